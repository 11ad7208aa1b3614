package alerts

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
)

// load reads the watches from the store, at the start and after a turn that
// could not be written: what was concluded from it must be concluded again, or
// its page is lost.
func (l *loop) load(ctx context.Context) error {
	if l.watches != nil {
		return nil
	}
	stored, err := l.w.store.Watches(ctx, l.src.Name)
	if err != nil {
		return err
	}
	watches, saved := map[string]*GroupWatch{}, map[string]uint64{}
	for group, text := range stored {
		w := &GroupWatch{}
		if err := json.Unmarshal(text, w); err != nil {
			l.log.Error("what was remembered of a group cannot be read and is forgotten", "group", group, "err", err)
			continue
		}
		watches[group], saved[group] = w, maphash.Bytes(l.seed, text)
	}
	standing, err := l.w.store.SourceIncidents(ctx, l.src.Name)
	if err != nil {
		return err
	}
	l.resume(standing)
	l.watches, l.saved, l.told = watches, saved, map[string]toldOf{}
	l.knew = l.knew || len(watches) > 0
	return nil
}

// failed shows that the reading came to nothing because of our own store.
func (l *loop) failed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	l.log.Error("the reading could not be written down; it is read again", "err", err)
	l.w.publish(func() {
		l.finished = l.w.Clock()
		l.shown.read.Err = err.Error()
	})
}

// save writes the turn: the watches that changed, the incidents, their events.
func (l *loop) save(ctx context.Context, r *result) error {
	fresh := map[string]uint64{}
	for group, w := range l.watches {
		text, err := json.Marshal(w)
		if err != nil {
			return fmt.Errorf("write down what is remembered of group %s: %w", group, err)
		}
		if sum := maphash.Bytes(l.seed, text); sum != l.saved[group] {
			fresh[group], r.turn.Watches[group] = sum, text
		}
	}
	if err := l.w.store.Turn(context.WithoutCancel(ctx), r.turn); err != nil {
		l.watches = nil
		return err
	}
	for group, sum := range fresh {
		l.saved[group] = sum
	}
	return nil
}
