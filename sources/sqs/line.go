package sqs

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"golang.org/x/sync/errgroup"
)

const (
	// mostPerCall is what SQS gives or takes in one request.
	mostPerCall = 10
	// hideMost is how long a look at the longest queues hides a message.
	hideMost = 10 * time.Minute
	// lookedAtMeanwhile is how many messages a sweep looks at in hideFor at worst:
	// a hundred a second.
	lookedAtMeanwhile = 3000
	// mostHeld keeps a sweep below the 120,000 messages that may be in flight.
	mostHeld = 100_000
	// releaseLimit ends a release that hangs; the messages then turn visible by
	// themselves.
	releaseLimit = 5 * time.Second
	// finishLimit is how long a receive may go on whose caller is being stopped:
	// longer than the longest of our polls.
	finishLimit = 4 * time.Second
	// triesWhenThrottled is how often a call is repeated that SQS put off.
	triesWhenThrottled = 6
)

// hold is a message that we have received and not let go.
type hold struct {
	receipt string
	until   time.Time
	touched time.Time // when a redrive last asked for it
	// Of a FIFO queue:
	group, sequence string
}

// line is what we do in one dead-letter queue: sweeps and redrives share what
// they hold.
type line struct {
	s    *Source
	name string // of the queue
	url  string
	fifo bool

	// turn is had by who looks at the queue: a step of a sweep, or a redrive that
	// takes hold of letters. Whoever has it may keep it for minutes. It is had
	// before mu.
	turn  sync.Mutex
	sweep *sweep // nil: none is under way

	// mu guards the rest, and is held for no request.
	mu      sync.Mutex
	f       facts           // as last read
	held    map[string]hold // by message id: looked at, to be released
	kept    map[string]hold // to be redriven
	extra   map[string]int  // looks of ours that no batch has told of yet
	missed  map[string]miss // letters to be redriven that were not found
	stop    *time.Timer     // releases what a redrive looked at
	waiting int             // redrives that wait for their turn
}

// line is the line of a queue, with what is known of it now.
func (s *Source) line(f facts) *line {
	s.mu.Lock()
	l := s.lines[f.name]
	if l == nil {
		l = &line{s: s, name: f.name, url: f.url, fifo: f.fifo, held: map[string]hold{}, kept: map[string]hold{}, extra: map[string]int{}, missed: map[string]miss{}}
		s.lines[f.name] = l
	}
	s.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.f = f
	return l
}

// facts are what is known of the queue.
func (l *line) facts() facts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.f
}

func (s *Source) allLines() []*line {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.lines))
}

// hideSeconds is for how long a look at a queue of that size hides messages.
func hideSeconds(n int64) int {
	d := hideFor + time.Duration(n)*hideFor/lookedAtMeanwhile
	return int(min(d, hideMost) / time.Second)
}

// receive looks at up to ten messages, which are held from then on: those that
// are wanted to be redriven, the others to be released. Everything is asked for
// by the old and the new name of the parameter: emulators know one of them or the
// other.
func (l *line) receive(ctx context.Context, wait, hide int, wanted map[string]entry) ([]types.Message, error) {
	in := &sqs.ReceiveMessageInput{
		QueueUrl: &l.url, MaxNumberOfMessages: mostPerCall, WaitTimeSeconds: int32(wait), VisibilityTimeout: int32(hide),
		MessageAttributeNames:       []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	}
	//lint:ignore SA1019 the old name is the one that some emulators know
	in.AttributeNames = []types.QueueAttributeName{types.QueueAttributeNameAll} //nolint:staticcheck // the same
	var out *sqs.ReceiveMessageOutput
	asked := l.s.now()
	err := patiently(ctx, func() (err error) {
		if err := cmp.Or(ctx.Err(), l.s.ending.Err()); err != nil {
			return err
		}
		call, done := finishing(ctx)
		defer done()
		asked = l.s.now()
		out, err = l.s.client.ReceiveMessage(call, in, once)
		return err
	})
	if err != nil {
		return nil, err
	}
	l.hold(out.Messages, asked, hide, wanted)
	return out.Messages, nil
}

// hold notes what was received. A look at a letter that nobody wants is
// remembered until a sweep tells of it.
func (l *line) hold(messages []types.Message, asked time.Time, hide int, wanted map[string]entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range messages {
		id := deref(m.MessageId)
		h := hold{
			receipt: deref(m.ReceiptHandle), until: asked.Add(time.Duration(hide) * time.Second), touched: asked,
			group: m.Attributes["MessageGroupId"], sequence: m.Attributes["SequenceNumber"],
		}
		delete(l.held, id)
		delete(l.kept, id) // its time was over
		if _, ours := wanted[id]; ours {
			l.kept[id] = h
		} else {
			l.held[id] = h
		}
	}
}

// finishing is a context for a receive that is not broken off with its caller's:
// SQS may have hidden messages by then, and without the answer nobody could
// release them. It has finishLimit to end.
func finishing(ctx context.Context) (context.Context, func()) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(finishLimit, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}

// live is how many messages we hold at this time: of those in flight, ours.
func (l *line) live() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.alive(l.s.now())
}

func (l *line) alive(now time.Time) (n int64) {
	for _, holds := range []map[string]hold{l.held, l.kept} {
		for _, h := range holds {
			if h.until.After(now) {
				n++
			}
		}
	}
	return n
}

// patiently repeats a call that SQS has put off, ever more slowly.
func patiently(ctx context.Context, call func() error) error {
	const first = 100 * time.Millisecond
	for try := range triesWhenThrottled {
		err := call()
		if !isThrottled(err) || try == triesWhenThrottled-1 {
			return err
		}
		timer := time.NewTimer(first << try)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
	return nil
}

// setHidden changes for how long messages stay hidden, and gives the errors of
// those of which it could not be changed.
func (l *line) setHidden(ctx context.Context, holds map[string]hold, seconds int) map[string]error {
	failed := map[string]error{}
	var mu sync.Mutex
	var all errgroup.Group
	all.SetLimit(callsAtOnce / 2)
	if l.fifo { // in their order, one after the other
		all.SetLimit(1)
	}
	ids := slices.SortedFunc(maps.Keys(holds), func(a, b string) int { return bySequence(holds, a, b) })
	for part := range slices.Chunk(ids, mostPerCall) {
		all.Go(func() error {
			errs := l.setHiddenOnce(ctx, holds, part, seconds)
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(failed, errs)
			return nil
		})
	}
	_ = all.Wait() // each message has its own error
	return failed
}

// setHiddenOnce sends one request.
func (l *line) setHiddenOnce(ctx context.Context, holds map[string]hold, ids []string, seconds int) map[string]error {
	in := &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &l.url}
	for i, id := range ids {
		name, receipt := strconv.Itoa(i), holds[id].receipt
		in.Entries = append(in.Entries, types.ChangeMessageVisibilityBatchRequestEntry{Id: &name, ReceiptHandle: &receipt, VisibilityTimeout: int32(seconds)})
	}
	failed := map[string]error{}
	out, err := l.s.client.ChangeMessageVisibilityBatch(ctx, in)
	if len(ids) > 1 && err != nil && isHandle(code(err), message(err)) { // of which of them?
		for _, id := range ids {
			maps.Copy(failed, l.setHiddenOnce(ctx, holds, []string{id}, seconds))
		}
		return failed
	}
	if err != nil {
		for _, id := range ids {
			failed[id] = ofHandles("ChangeMessageVisibility", l.name, err)
		}
		return failed
	}
	for _, e := range out.Failed {
		if i, err := strconv.Atoi(deref(e.Id)); err == nil && i < len(ids) {
			failed[ids[i]] = fmt.Errorf("%s: %s", deref(e.Code), deref(e.Message))
			if e.SenderFault || isHandle(deref(e.Code), deref(e.Message)) { // of a message that was received, it is only the handle
				failed[ids[i]] = fmt.Errorf("%w: %w", errHandle, failed[ids[i]])
			}
		}
	}
	return failed
}

// bySequence orders messages by their numbers in a FIFO queue; a standard queue
// has no order.
func bySequence(holds map[string]hold, a, b string) int {
	x, y := holds[a].sequence, holds[b].sequence
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y), cmp.Compare(a, b))
}

// release lets go of what was looked at. What cannot be released turns visible
// by itself, so errors do not matter; and it happens also when the caller is
// being stopped. The turn is had.
func (l *line) release(ctx context.Context) {
	l.mu.Lock()
	now := l.s.now()
	holds := l.held
	l.held = map[string]hold{}
	l.mu.Unlock()
	maps.DeleteFunc(holds, func(_ string, h hold) bool { return !h.until.After(now) })
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseLimit+time.Duration(len(holds))*2*time.Millisecond)
	defer cancel()
	l.setHidden(ctx, holds, 0)
}

// releaseAll lets go also of what is kept for redrives.
func (l *line) releaseAll(ctx context.Context) {
	l.turn.Lock()
	defer l.turn.Unlock()
	l.mu.Lock()
	maps.Copy(l.held, l.kept)
	clear(l.kept)
	l.mu.Unlock()
	l.release(ctx)
}
