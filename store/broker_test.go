package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// fakeBroker stands for a cluster or an account that outlives the program: it sees
// what arrives, and what is left.
type fakeBroker struct {
	repeats bool // it drops a second copy of a shipment

	mu      sync.Mutex
	arrived map[string][]sources.Parcel // by queue
	copies  map[string][]sources.Receipt
	left    map[string]bool // messages that lie in the dead-letter queue
	ships   int
	missing map[string]bool // queues that are not there
	// lost are ships whose answer is lost after they arrived; down is what every
	// call says.
	lost     int
	doubt    bool // every answer says that nobody can tell
	down     error
	settling error            // what Settle says of each receipt
	refused  map[string]error // by letter key
}

func newBroker(repeats bool) *fakeBroker {
	return &fakeBroker{repeats: repeats, arrived: map[string][]sources.Parcel{}, copies: map[string][]sources.Receipt{}, left: map[string]bool{}, missing: map[string]bool{}, refused: map[string]error{}}
}

func (b *fakeBroker) Aim(_ context.Context, queue string, l sources.DeadLetter) (sources.Target, string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.missing[queue] {
		return sources.Target{}, "", fmt.Errorf("topic %s: %w", queue, sources.ErrNoSuchQueue)
	}
	if !b.repeats {
		return sources.Target{Queue: queue}, "", nil
	}
	return sources.Target{Queue: queue, Partition: l.Origin.Partition, TopicID: "id-of-" + queue}, "where it came from", nil
}

// Pack makes a shipment of the parcels of each partition, at most three in one.
func (b *fakeBroker) Pack(_ context.Context, parcels []sources.Parcel) ([]sources.Shipment, map[string]error, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down != nil {
		return nil, nil, b.down
	}
	refused := map[string]error{}
	var lines []string
	byLine := map[string][]sources.Parcel{}
	for _, p := range parcels {
		switch {
		case b.missing[p.Target.Queue]:
			refused[p.Item] = fmt.Errorf("target %s: %w", p.Target.Queue, sources.ErrNoSuchQueue)
		case b.refused[string(p.Key)] != nil:
			refused[p.Item] = b.refused[string(p.Key)]
		default:
			name := p.Target.Queue
			if p.Target.Partition != nil {
				name = fmt.Sprintf("%s/%d", name, *p.Target.Partition)
			}
			if byLine[name] == nil {
				lines = append(lines, name)
			}
			byLine[name] = append(byLine[name], p)
		}
	}
	var all []sources.Shipment
	for _, name := range lines {
		for chunk := range slices.Chunk(byLine[name], 3) {
			s := sources.Shipment{Target: chunk[0].Target}
			s.Data, _ = json.Marshal(chunk)
			if b.repeats {
				s.RepeatUntil = time.Now().Add(time.Hour)
			}
			for _, p := range chunk {
				s.Items = append(s.Items, p.Item)
			}
			all = append(all, s)
		}
	}
	return all, refused, nil
}

func (b *fakeBroker) Ship(_ context.Context, s sources.Shipment) ([]sources.Receipt, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ships++
	if b.down != nil {
		return nil, b.down
	}
	receipts, known := b.copies[string(s.Data)]
	if !known || !b.repeats {
		receipts = b.append(s)
		b.copies[string(s.Data)] = receipts
	}
	if b.lost > 0 {
		b.lost--
		return nil, sources.ErrAmbiguous
	}
	if b.doubt {
		receipts = slices.Clone(receipts)
		for i := range receipts {
			receipts[i].Err = sources.ErrAmbiguous
		}
	}
	return receipts, nil
}

func (b *fakeBroker) append(s sources.Shipment) []sources.Receipt {
	var parcels []sources.Parcel
	_ = json.Unmarshal(s.Data, &parcels) // it was made by Pack
	var receipts []sources.Receipt
	for _, p := range parcels {
		r := sources.Receipt{Item: p.Item}
		if p.Place.MessageID != "" {
			r.MessageID = "new-" + p.Place.MessageID
		} else {
			r.Partition, r.Offset = *p.Target.Partition, int64(1000+len(b.arrived[s.Target.Queue]))
		}
		b.arrived[s.Target.Queue] = append(b.arrived[s.Target.Queue], p)
		receipts = append(receipts, r)
	}
	return receipts
}

func (b *fakeBroker) Settle(_ context.Context, s sources.Shipment, sent []sources.Receipt) ([]sources.Receipt, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var parcels []sources.Parcel
	_ = json.Unmarshal(s.Data, &parcels) // it was made by Pack
	settled := slices.Clone(sent)
	for i, r := range settled {
		settled[i].Err = b.settling
		for _, p := range parcels {
			if p.Item == r.Item && b.settling == nil {
				delete(b.left, p.Place.MessageID)
			}
		}
	}
	return settled, nil
}

// at gives what arrived in a queue.
func (b *fakeBroker) at(queue string) []sources.Parcel {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.arrived[queue])
}

func (b *fakeBroker) set(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}
