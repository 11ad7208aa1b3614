package skips

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/unwedge/unwedge/internal/failpoint"
	"github.com/unwedge/unwedge/sources"
)

// Request asks for a skip.
type Request struct {
	Line      sources.Partition
	Offset    int64         // where the group stands
	ToOffset  int64         // sources.NotKnown: the next readable record
	ExpiresIn time.Duration // 0: ExpiresIn
	Stop      bool
	By        string
}

// Desk takes orders for skips.
type Desk struct {
	Sources map[string]Source
	Book    Book
	History History
	Workers Workers // nil: none can be stopped
	Shelter Shelter // nil: only a topic with a dead-letter topic can be skipped
	Now     func() time.Time
	Changed func(id string) // after an order was taken
}

// Plan says what a skip would park, without arming it: the skip without an id
// and a state. Errors: ErrInvalid, ErrUnavailable, *StateError.
func (d *Desk) Plan(ctx context.Context, r Request) (Skip, error) {
	source, err := d.check(r)
	if err != nil {
		return Skip{}, err
	}
	group, line, err := source.Line(ctx, r.Line)
	if err != nil {
		return Skip{}, notThere(r.Line, err)
	}
	if err := d.standing(ctx, r, line); err != nil {
		return Skip{}, err
	}
	s := Skip{Line: r.Line, From: r.Offset, Stop: r.Stop, By: r.By, TopicID: line.TopicID, ArmedAt: d.Now()}
	s.ExpiresAt = s.ArmedAt.Add(r.ExpiresIn)
	if r.ExpiresIn == 0 {
		s.ExpiresAt = s.ArmedAt.Add(ExpiresIn)
	}
	if err := d.parkedBy(ctx, source, &s, r.ToOffset, line); err != nil {
		return s, err
	}
	s.WaitsFor = waitsFor(group)
	return s, nil
}

// Arm plans a skip and arms it. Errors as those of Plan.
func (d *Desk) Arm(ctx context.Context, r Request) (Skip, error) {
	s, err := d.Plan(ctx, r)
	if err != nil {
		return s, err
	}
	s.ID, s.State = "sk_"+uuid.Must(uuid.NewV7()).String(), Armed
	if s.WaitsFor == "" {
		s.WaitsFor = "It is carried out now: the group has no members."
	} else if s.Stop {
		s.WaitsFor = "Its workers are told to stop."
	}
	deed := Deed{r.By, "skip.arm", fmt.Sprintf("%s: %s, from %d to %d", name(s.Line), records(len(s.Parked)), s.From, s.To)}
	if err := d.Book.Arm(ctx, s, deed); err != nil {
		return Skip{}, err
	}
	d.Changed(s.ID)
	return s, nil
}

// check tells what is wrong with a request as it stands.
func (d *Desk) check(r Request) (Source, error) {
	source := d.Sources[r.Line.Source]
	switch {
	case source == nil:
		return nil, fmt.Errorf("%w: source %q is no Kafka source of the configuration", ErrInvalid, r.Line.Source)
	case r.Line.Group == "" || r.Line.Topic == "":
		return nil, fmt.Errorf("%w: group and topic are needed", ErrInvalid)
	case r.Line.Number < 0 || r.Offset < 0:
		return nil, fmt.Errorf("%w: partition and offset are needed, and are not negative", ErrInvalid)
	case r.ToOffset != sources.NotKnown && r.ToOffset <= r.Offset:
		return nil, fmt.Errorf("%w: to_offset %d is not after offset %d", ErrInvalid, r.ToOffset, r.Offset)
	case r.ExpiresIn < 0 || r.ExpiresIn > longestArmed:
		return nil, fmt.Errorf("%w: expires_in is at most %s", ErrInvalid, longestArmed)
	case r.Stop && !d.Stoppable(r.Line):
		return nil, fmt.Errorf("%w: stop: consumers of source %s names no way to stop group %s", ErrInvalid, r.Line.Source, r.Line.Group)
	}
	return source, nil
}

// Stoppable tells whether the workers of a group can be stopped and started.
func (d *Desk) Stoppable(p sources.Partition) bool { return d.Workers != nil && d.Workers.Stoppable(p) }

func notThere(p sources.Partition, err error) error {
	if errors.Is(err, sources.ErrNoSuchQueue) {
		return conflict("%s: the group has no position there", name(p))
	}
	return fmt.Errorf("%w: read %s: %w", ErrUnavailable, name(p), err)
}

// standing tells why a line as it is now cannot be skipped.
func (d *Desk) standing(ctx context.Context, r Request, l sources.Lag) error {
	if err := errors.Join(l.Err, l.PositionErr); err != nil {
		return fmt.Errorf("%w: read %s: %w", ErrUnavailable, name(r.Line), err)
	}
	if l.Position != r.Offset {
		return conflict("%s stands at %d by now, not at %d", name(r.Line), l.Position, r.Offset)
	}
	at, err := d.History.AdvancedAlone(ctx, r.Line)
	if err != nil {
		return fmt.Errorf("read how %s has moved: %w", name(r.Line), err)
	}
	if !at.IsZero() && d.Now().Sub(at) < aloneFor {
		return conflict("%s advanced at %s while its group had no members: who commits without joining is not stopped when the group is empty", name(r.Line), at.UTC().Format(time.RFC3339))
	}
	return nil
}

// parkedBy reads what a skip parks.
func (d *Desk) parkedBy(ctx context.Context, source Source, s *Skip, to int64, l sources.Lag) error {
	end, most := to, RecordsMost+1
	if to == sources.NotKnown {
		end, most = l.StableEnd, 1
	} else if to > l.StableEnd {
		return conflict("%s is readable to %d, which is before to_offset %d", name(s.Line), l.StableEnd, to)
	}
	list, err := source.Records(ctx, s.Line.Topic, s.Line.Number, s.From, end, most)
	if err != nil {
		return fmt.Errorf("%w: read the records of %s: %w", ErrUnavailable, name(s.Line), err)
	}
	switch {
	case len(list) == 0:
		return conflict("%s: nothing readable lies from %d on", name(s.Line), s.From)
	case len(list) > RecordsMost:
		return fmt.Errorf("%w: more than %d records lie before to_offset %d; skip them in pieces", ErrInvalid, RecordsMost, to)
	}
	if s.To = to; to == sources.NotKnown {
		s.To = list[0].Offset + 1
	}
	if s.Queue, err = source.ParkingQueue(ctx, s.Line.Topic); err != nil {
		return fmt.Errorf("%w: find where %s is parked: %w", ErrUnavailable, s.Line.Topic, err)
	}
	if s.Queue == "" && d.Shelter == nil {
		return conflict("topic %s has no dead-letter topic that we know: name one with park in the configuration", s.Line.Topic)
	}
	for _, r := range list {
		s.Parked = append(s.Parked, Parked{Record: r, AtOffset: sources.NotKnown})
	}
	return nil
}

// Disarm takes back a skip that waits. Errors: ErrNotFound, *StateError.
func (d *Desk) Disarm(ctx context.Context, id, by string) (Skip, error) {
	s, err := d.Book.Skip(ctx, id)
	if err != nil {
		return s, err
	}
	switch {
	case s.State != Armed:
		return s, conflict("skip %s is %s: only an armed one can be disarmed", id, s.State)
	case s.Step == Moving:
		return s, conflict("skip %s moves the position just now", id)
	}
	s.State, s.EndedAt, s.WaitsFor = Disarmed, d.Now(), ""
	if err := d.Book.Save(ctx, s, Armed, d.Now(), Deed{by, "skip.disarm", name(s.Line)}); err != nil {
		return s, err
	}
	d.Changed(id)
	return s, nil
}

// Undo moves the position back to where it was, while the group is empty and
// stands where we put it. What was parked stays parked. Errors: ErrNotFound,
// ErrUnavailable, *StateError.
func (d *Desk) Undo(ctx context.Context, id, by string) (Skip, error) {
	s, err := d.Book.Skip(ctx, id)
	if err != nil {
		return s, err
	}
	if s.State != Done {
		return s, conflict("skip %s is %s: only one that is done can be undone", id, s.State)
	}
	source := d.Sources[s.Line.Source]
	if source == nil {
		return s, fmt.Errorf("%w: source %s is not configured any more", ErrUnavailable, s.Line.Source)
	}
	group, line, err := source.Line(ctx, s.Line)
	if err != nil {
		return s, notThere(s.Line, err)
	}
	switch {
	case !empty(group):
		return s, conflict("%s", waitsFor(group))
	case line.Position != s.To:
		return s, conflict("%s stands at %d by now, not at %d where it was put", name(s.Line), line.Position, s.To)
	}
	s.Step = Undoing
	if err := d.Book.Save(ctx, s, Done, d.Now()); err != nil {
		return s, err
	}
	failpoint.Hit("skip-undoing")
	if err := source.Commit(ctx, s.Line, s.From); err != nil {
		return s, fmt.Errorf("%w: move %s back to %d: %w", ErrUnavailable, name(s.Line), s.From, err)
	}
	deed := s.undo(by, d.Now())
	if err := d.Book.Save(ctx, s, Done, d.Now(), deed); err != nil {
		return s, err
	}
	d.Changed(id)
	return s, nil
}

// undo is a skip whose position is back, and what was done.
func (s *Skip) undo(by string, now time.Time) Deed {
	s.State, s.Step, s.EndedAt, s.Outcome = Undone, Waiting, now, ""
	return Deed{by, "skip.undo", fmt.Sprintf("%s: back to %d", name(s.Line), s.From)}
}

// name is a line in a sentence.
func name(p sources.Partition) string {
	return fmt.Sprintf("partition %d of %s for group %s", p.Number, p.Topic, p.Group)
}

func records(n int) string {
	if n == 1 {
		return "1 record"
	}
	return fmt.Sprintf("%d records", n)
}

// empty tells whether a group was seen to have no members.
func empty(g sources.Group) bool { return g.Err == nil && g.MembersKnown && len(g.Members) == 0 }

// waitsFor says what has to happen before the position can be moved; "" when
// nothing has.
func waitsFor(g sources.Group) string {
	switch {
	case g.Err != nil:
		return fmt.Sprintf("Group %s cannot be read: %s", g.Name, g.Err)
	case !g.MembersKnown:
		return fmt.Sprintf("The broker does not tell the members of group %s.", g.Name)
	case len(g.Members) == 0:
		return ""
	}
	const shown = 5
	var ids []string
	for _, m := range g.Members {
		ids = append(ids, m.ClientID)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	text := strings.Join(ids[:min(shown, len(ids))], ", ")
	if more := len(ids) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	members := "1 member"
	if n := len(g.Members); n > 1 {
		members = fmt.Sprintf("%d members", n)
	}
	return fmt.Sprintf("Stop group %s: it still has %s (%s). Kafka takes a new position only while there are none.", g.Name, members, text)
}
