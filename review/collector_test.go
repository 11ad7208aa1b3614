package review

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// shelf keeps looks in memory, as a store would.
type shelf struct {
	mu          sync.Mutex
	letters     map[string]Letter
	cursors     map[string][]byte
	queues      map[string][]sources.Queue
	scanned     map[string]time.Time
	looks       map[string]int
	last        map[string]Look
	full        error // what Take and Cursor say
	inventories int
}

func newShelf() *shelf {
	return &shelf{letters: map[string]Letter{}, cursors: map[string][]byte{}, queues: map[string][]sources.Queue{}, scanned: map[string]time.Time{}, looks: map[string]int{}, last: map[string]Look{}}
}

func (s *shelf) Cursor(_ context.Context, source, queue string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cursors[source+"/"+queue], s.full
}

func (s *shelf) Take(_ context.Context, l Look) (Taken, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full != nil {
		return Taken{}, s.full
	}
	var t Taken
	for _, one := range l.Letters {
		if _, known := s.letters[one.ID]; !known {
			s.letters[one.ID] = one
			t.New = append(t.New, one.ID)
		}
	}
	name := l.Source + "/" + l.Queue
	if l.Cursor != nil {
		s.cursors[name] = l.Cursor
	}
	s.looks[name]++
	s.last[name] = l
	return t, nil
}

func (s *shelf) KeepInventory(_ context.Context, inv Inventory) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queues[inv.Source] = inv.Queues
	maps.Copy(s.scanned, inv.Scanned)
	s.inventories++
	return nil
}

func (s *shelf) see(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// topics is a source with topics of numbered letters.
type topics struct {
	name string

	mu    sync.Mutex
	ends  map[string]int
	errs  map[string]error // by topic
	down  error
	reads int
	polls int
	batch int // letters at a time; 0: all
}

func (s *topics) Name() string { return s.name }

func (s *topics) Queues(context.Context) ([]sources.Queue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []sources.Queue
	for _, name := range slices.Sorted(maps.Keys(s.ends)) {
		list = append(list, sources.Queue{Source: s.name, Name: name, Kind: sources.DeadLetterQueue})
	}
	return append(list, sources.Queue{Source: s.name, Name: "orders", Kind: sources.WorkQueue}), s.down
}

func (s *topics) DeadLetters(_ context.Context, queue string, cursor []byte, most int) (sources.Batch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if err := errors.Join(s.down, s.errs[queue]); err != nil {
		return sources.Batch{}, err
	}
	at := 0
	_, _ = fmt.Sscan(string(cursor), &at)
	if s.batch > 0 {
		most = min(most, s.batch)
	}
	var b sources.Batch
	for ; at < s.ends[queue] && len(b.Letters) < most; at++ {
		b.Letters = append(b.Letters, sources.DeadLetter{Place: sources.Place{TopicID: queue, Offset: int64(at)}, Body: fmt.Append(nil, at)})
	}
	b.Next, b.More = fmt.Append(nil, at), at < s.ends[queue]
	return b, nil
}

func (s *topics) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// polled is a source that tells at little cost which topics have news.
type polled struct {
	*topics
	seen map[string]int
}

func (s *polled) Changed(_ context.Context, queues []string) (changed []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.polls++
	for _, q := range queues {
		if n, known := s.seen[q]; !known || n != s.ends[q] {
			s.seen[q] = s.ends[q]
			changed = append(changed, q)
		}
	}
	return changed, s.down
}

func newTopics(name string, ends map[string]int) *topics {
	return &topics{name: name, ends: ends, errs: map[string]error{}}
}

// collect runs a collector for a test in a bubble.
func collect(t *testing.T, keep Keeper, feeds ...Feed) *Collector {
	ctx, cancel := context.WithCancel(t.Context())
	c := &Collector{
		Feeds: feeds, Keeper: keep, Log: slog.New(slog.DiscardHandler),
		Fingerprint: func(l sources.DeadLetter) (string, string, string) { return "ca", "title", "why" },
	}
	var done sync.WaitGroup
	done.Go(func() { _ = c.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		done.Wait()
	})
	return c
}

func TestANewLetterIsFoundWithinTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, keep := &polled{newTopics("kafka", map[string]int{"a-dlt": 3, "b-dlt": 0}), map[string]int{}}, newShelf()
		collect(t, keep, Feed{s, time.Second})
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(keep.letters) != 3 || s.reads > 4 || s.polls < 55 {
			t.Errorf("%d letters, %d reads, %d polls: only what has news is read", len(keep.letters), s.reads, s.polls)
		}
		s.set(func() { s.ends["b-dlt"] = 2 })
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(keep.letters) != 5 {
			t.Errorf("%d letters, want 5", len(keep.letters))
		}
		if age := time.Since(keep.scanned["a-dlt"]); age > refreshLeast+2*time.Second {
			t.Errorf("a-dlt was last looked at %s ago, says the store", age)
		}
	})
}

func TestALongQueueDoesNotKeepOthersWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, keep := newTopics("kafka", map[string]int{"long": 5000, "short": 1}), newShelf()
		s.batch = 100
		collect(t, keep, Feed{s, time.Second})
		synctest.Wait()
		if len(keep.letters) != 5001 || keep.looks["kafka/short"] == 0 || keep.looks["kafka/long"] < 50 {
			t.Errorf("%d letters, looks %v: all at once, batch by batch", len(keep.letters), keep.looks)
		}
	})
}

func TestC118OneBadSourceOrQueueHidesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good, bad := newTopics("good", map[string]int{"a": 1, "b": 1}), newTopics("bad", map[string]int{"c": 1})
		bad.down = errors.New("SASL: authentication failed")
		good.errs["a"] = fmt.Errorf("topic a: %w", sources.ErrNotAuthorised)
		keep := newShelf()
		c := collect(t, keep, Feed{good, time.Second}, Feed{bad, time.Second})
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(keep.letters) != 1 {
			t.Errorf("%d letters, want that of b", len(keep.letters))
		}
		status := c.Status()
		if status[0].Err != "" || time.Since(status[0].ReadAt) > time.Minute || !strings.Contains(status[1].Err, "SASL") || !status[1].ReadAt.IsZero() {
			t.Errorf("%+v", status)
		}
		if err := keep.last["good/a"].Err; err == nil || !strings.Contains(err.Error(), "not authorised") || keep.last["good/a"].Scanned {
			t.Errorf("the error of queue a: %v", err)
		}
		if n := keep.looks["good/a"]; n != 1 {
			t.Errorf("the same error was stored %d times", n)
		}
		if err := c.Ready(time.Now()); err != nil {
			t.Errorf("a source that is down is no loop that is stuck: %v", err)
		}
		bad.set(func() { bad.down = nil })
		good.set(func() { good.errs = map[string]error{} })
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if status := c.Status(); len(keep.letters) != 3 || status[1].Err != "" {
			t.Errorf("%d letters, %+v: it was well again", len(keep.letters), status)
		}
	})
}

func TestC122NewQueuesAreReadAndDeletedOnesAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, keep := newTopics("aws", map[string]int{"a": 1}), newShelf()
		collect(t, keep, Feed{s, 15 * time.Minute})
		time.Sleep(time.Second)
		s.set(func() { s.ends = map[string]int{"x-dlq": 2} })
		time.Sleep(time.Minute)
		synctest.Wait()
		keep.mu.Lock()
		if len(keep.letters) != 3 || len(keep.queues["aws"]) != 2 {
			t.Errorf("%d letters, queues %v", len(keep.letters), keep.queues["aws"])
		}
		keep.mu.Unlock()
		reads := s.reads
		time.Sleep(14 * time.Minute)
		if s.reads > reads+1 {
			t.Errorf("%d reads in a quarter of an hour: it is paid by the read", s.reads-reads)
		}
	})
}

// TestWhatCannotBeStoredIsReadAgain fills the disk for a while.
func TestWhatCannotBeStoredIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, keep := newTopics("kafka", map[string]int{"a": 5}), newShelf()
		keep.full = errors.New("disk full")
		collect(t, keep, Feed{s, time.Second})
		time.Sleep(20 * time.Second)
		keep.see(func() { keep.full = nil })
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if len(keep.letters) != 5 || string(keep.cursors["kafka/a"]) != "5" {
			t.Errorf("%d letters, cursor %q", len(keep.letters), keep.cursors["kafka/a"])
		}
	})
}

// TestALookThatLookedAtNothingIsNoScan: the source says why.
func TestALookThatLookedAtNothingIsNoScan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keep := newShelf()
		collect(t, keep, Feed{notScanned{newTopics("aws", map[string]int{"b-dlq": 0})}, time.Second})
		time.Sleep(time.Minute)
		synctest.Wait()
		if l := keep.last["aws/b-dlq"]; keep.looks["aws/b-dlq"] != 1 || l.Scanned || l.Note == "" || !keep.scanned["b-dlq"].IsZero() {
			t.Errorf("%d looks, %+v", keep.looks["aws/b-dlq"], l)
		}
	})
}

type notScanned struct{ *topics }

func (notScanned) DeadLetters(context.Context, string, []byte, int) (sources.Batch, error) {
	return sources.Batch{Note: "not scanned: it has a redrive policy of its own"}, nil
}
