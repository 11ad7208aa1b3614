package sqs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/unwedge/unwedge/sources"
)

const (
	// mostBytes is the size of all messages of one batch (SQS API,
	// SendMessageBatch: 1 MiB since August 2025).
	mostBytes = 1 << 20
	// mostAttributes is how many attributes a message may have.
	mostAttributes = 10
)

// load is the data of a shipment: what is sent, byte for byte, and what is held
// meanwhile.
type load struct {
	Run     string    `json:"run"`              // of the program that packed it
	Queue   string    `json:"queue"`            // the dead-letter queue
	FIFO    bool      `json:"fifo"`             // the target
	Held    time.Time `json:"held"`             // until when the letters are surely held
	Stored  bool      `json:"stored,omitempty"` // copies of ours: nothing is held, and nothing to take off
	Entries []entry   `json:"entries"`
}

// entry is one message of a shipment.
type entry struct {
	Item       string      `json:"item"`
	Message    string      `json:"message"` // id in the dead-letter queue
	Receipt    string      `json:"receipt"` // of the hold
	Body       string      `json:"body"`
	Attributes []attribute `json:"attributes,omitempty"`
	Group      string      `json:"group,omitempty"`
	Sequence   string      `json:"sequence,omitempty"` // of a FIFO dead-letter queue
	Dedup      string      `json:"dedup,omitempty"`
	Trace      string      `json:"trace,omitempty"` // AWSTraceHeader
}

type attribute struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value []byte `json:"value"`
}

func (e entry) size() int {
	n := len(e.Body)
	for _, a := range e.Attributes {
		n += len(a.Name) + len(a.Type) + len(a.Value)
	}
	return n
}

// packing is what comes of a Pack.
type packing struct {
	shipments []sources.Shipment
	refused   map[string]error // by item
}

func (p *packing) add(shipments []sources.Shipment) { p.shipments = append(p.shipments, shipments...) }

// Pack takes hold of letters, and packs those that it got into batches, by
// count and by bytes. A letter that cannot be found is left for a later time, in
// neither answer: others may hold it, and so may a run of ours that was killed. It
// is sources.ErrGone once the queue shows that nobody holds any.
//
// Letters of a FIFO group stand in a shipment in their order in the queue. Of
// stored copies nothing is held: they go in the order that they are given in.
func (s *Source) Pack(ctx context.Context, parcels []sources.Parcel) ([]sources.Shipment, map[string]error, error) {
	into := &packing{refused: map[string]error{}}
	byQueue := map[string][]sources.Parcel{}
	var stored []sources.Parcel
	for _, p := range parcels {
		if p.StoredCopy {
			stored = append(stored, p)
			continue
		}
		byQueue[p.Queue] = append(byQueue[p.Queue], p)
	}
	errs := []error{s.packStored(ctx, stored, into)}
	for queue, list := range byQueue {
		errs = append(errs, s.packQueue(ctx, queue, list, into))
	}
	return into.shipments, into.refused, errors.Join(errs...)
}

func (s *Source) packQueue(ctx context.Context, queue string, parcels []sources.Parcel, into *packing) error {
	f, deadLetters, err := s.queue(ctx, queue)
	switch {
	case errors.Is(err, sources.ErrNoSuchQueue):
		into.refuseAll(parcels, err)
		return nil
	case err != nil:
		return err
	case !deadLetters:
		into.refuseAll(parcels, fmt.Errorf("%s: %w", queue, ErrNotDeadLetters))
		return nil
	case s.notScanned(f) != "": // to get at a letter it would have to look at others
		into.refuseAll(parcels, errors.New(s.notScanned(f)))
		return nil
	}
	return s.eachTarget(ctx, parcels, into, func(to facts, list []sources.Parcel) error {
		return s.packFor(ctx, f, to, list, into)
	})
}

// eachTarget packs parcels by their targets. Those of a target that is not there,
// or may not be written to, are refused.
func (s *Source) eachTarget(ctx context.Context, parcels []sources.Parcel, into *packing, pack func(facts, []sources.Parcel) error) error {
	byTarget := map[string][]sources.Parcel{}
	for _, p := range parcels {
		byTarget[p.Target.Queue] = append(byTarget[p.Target.Queue], p)
	}
	for name, list := range byTarget {
		to, err := s.target(ctx, name)
		switch {
		case errors.Is(err, sources.ErrNoSuchQueue) || errors.Is(err, sources.ErrNotAuthorised):
			into.refuseAll(list, err)
			continue
		case err == nil:
			err = pack(to, list)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *packing) refuseAll(parcels []sources.Parcel, err error) {
	for _, one := range parcels {
		p.refused[one.Item] = err
	}
}

// packFor packs letters of one dead-letter queue for one target.
func (s *Source) packFor(ctx context.Context, from, to facts, parcels []sources.Parcel, into *packing) error {
	wanted := map[string]entry{}
	messages := into.messages(to, parcels)
	for _, e := range messages {
		wanted[e.Message] = e
	}
	l := s.line(from)
	got, err := l.take(ctx, wanted)
	if from.fifo {
		got.order = l.noneOvertakes(ctx, messages, got)
	}
	for id, why := range got.gone {
		into.refused[wanted[id].Item] = why
	}
	s.keepHolding()
	s.forgetBroken(to.name)
	into.add(s.shipments(l, to, l.asHeld(wanted, got.order)))
	return err
}

// noneOvertakes leaves out letters of a FIFO group that stand behind one that is
// to go too and is not held just now. They are let go: while one of a group is
// held SQS hands out none of the others.
func (l *line) noneOvertakes(ctx context.Context, messages []entry, got taken) []string {
	closed, behind := map[string]bool{}, map[string]hold{}
	l.mu.Lock()
	for _, e := range messages {
		switch held := slices.Contains(got.order, e.Message); {
		case held && closed[e.Group]:
			behind[e.Message] = l.kept[e.Message]
			delete(l.kept, e.Message)
		case !held && got.gone[e.Message] == nil:
			closed[e.Group] = true
		}
	}
	l.mu.Unlock()
	if len(behind) > 0 {
		l.setHidden(ctx, behind, 0) // what cannot be let go turns visible by itself
	}
	return slices.DeleteFunc(got.order, func(id string) bool {
		_, waits := behind[id]
		return waits
	})
}

// asHeld are the messages of letters with the receipts of their holds.
func (l *line) asHeld(wanted map[string]entry, order []string) []entry {
	receipts := l.receipts(order)
	entries := make([]entry, len(order))
	for i, id := range order {
		entries[i] = wanted[id]
		entries[i].Receipt = receipts[i]
	}
	return entries
}

// packStored packs copies of ours of letters that SQS has no more.
func (s *Source) packStored(ctx context.Context, parcels []sources.Parcel, into *packing) error {
	return s.eachTarget(ctx, parcels, into, func(to facts, list []sources.Parcel) error {
		s.forgetBroken(to.name)
		into.add(s.shipments(nil, to, into.messages(to, list)))
		return nil
	})
}

// messages makes the messages of parcels. Those that the target cannot take are
// refused.
func (p *packing) messages(to facts, parcels []sources.Parcel) []entry {
	var entries []entry
	for _, one := range parcels {
		e, err := packOne(one, to.fifo)
		if err == nil && to.largest > 0 && e.size() > to.largest {
			err = fmt.Errorf("%d bytes, and %s takes %d: %w", e.size(), to.name, to.largest, sources.ErrTooLarge)
		}
		if err != nil {
			p.refused[one.Item] = err
			continue
		}
		entries = append(entries, e)
	}
	return entries
}

// packOne makes the message of a parcel.
func packOne(p sources.Parcel, fifo bool) (entry, error) {
	e := entry{Item: p.Item, Message: p.Place.MessageID, Body: string(p.Body), Group: p.System["MessageGroupId"], Sequence: p.System["SequenceNumber"], Trace: p.System["AWSTraceHeader"]}
	switch {
	case e.Message == "":
		return e, errors.New("the letter has no SQS message id")
	case len(p.Body) == 0:
		return e, errors.New("SQS takes no empty body")
	case !utf8.Valid(p.Body):
		return e, errors.New("SQS takes text only, and the body is not UTF-8")
	case len(p.Headers) > mostAttributes:
		return e, fmt.Errorf("SQS takes %d attributes, and there are %d", mostAttributes, len(p.Headers))
	}
	for _, h := range p.Headers {
		e.Attributes = append(e.Attributes, attribute{h.Name, dataType(h), h.Value})
	}
	if fifo {
		e.Group, _ = groupOf(p.System, p.Place)
		e.Dedup = dedupID(p.Item)
	}
	return e, nil
}

// dedupID is new for each attempt to redrive, so that the queue does not drop
// it, and the same when this attempt is repeated after a crash, so that it does.
func dedupID(item string) string {
	sum := sha256.Sum256([]byte("unwedge " + item))
	return hex.EncodeToString(sum[:])
}

// shipments cuts entries into batches. Those of a FIFO group stay in their
// order. The line is nil for stored copies.
func (s *Source) shipments(l *line, to facts, entries []entry) []sources.Shipment {
	most := s.batchLimit(to.name)
	var out []sources.Shipment
	for len(entries) > 0 {
		n, bytes := 0, 0
		for n < min(len(entries), mostPerCall) && (n == 0 || bytes+entries[n].size() <= most) {
			bytes += entries[n].size()
			n++
		}
		out = append(out, s.shipment(l, to, entries[:n]))
		entries = entries[n:]
	}
	return out
}

func (s *Source) shipment(l *line, to facts, entries []entry) sources.Shipment {
	cargo := load{Run: s.run, FIFO: to.fifo, Stored: l == nil, Entries: slices.Clone(entries)}
	ship := sources.Shipment{Target: sources.Target{Queue: to.name}}
	for _, e := range entries {
		ship.Items = append(ship.Items, e.Item)
	}
	if l != nil {
		cargo.Queue, cargo.Held = l.name, l.heldUntil(entries)
	}
	if to.fifo {
		ship.RepeatUntil = s.now().Add(dedupWindow)
	}
	data, err := json.Marshal(cargo)
	if err != nil {
		panic(err) // it has nothing that JSON lacks: the bodies are UTF-8
	}
	ship.Data = data
	return ship
}

func (s *Source) batchLimit(queue string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.limit[queue]; n > 0 {
		return n
	}
	return mostBytes
}

// tooLong notes that a queue refused a batch of that size.
func (s *Source) tooLong(queue string, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.limit[queue]; old == 0 || bytes/2 < old {
		s.limit[queue] = max(bytes/2, 1)
	}
}

func unpack(shipment sources.Shipment) (load, error) {
	var cargo load
	if err := json.Unmarshal(shipment.Data, &cargo); err != nil {
		return load{}, fmt.Errorf("read a shipment for %s: %w", strings.TrimSpace(shipment.Target.Queue), err)
	}
	return cargo, nil
}
