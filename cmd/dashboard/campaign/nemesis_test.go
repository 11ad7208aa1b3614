//go:build campaign

package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources/sourcetest"
	"github.com/unwedge/unwedge/sources/sqs/sqstest"
)

// nemesis is what goes wrong with a broker while letters are redriven and the
// program is killed.
type nemesis struct {
	name string
	// world makes the broker. during goes on until its context ends; it may be
	// nil. heal ends what goes wrong.
	world func(t testing.TB, seed uint64) (b broker, during func(context.Context) error, heal func(context.Context) error)
	// play is used in place of the storm of kills; nil: that.
	play func(*run) error
}

func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// suffer is one run with a nemesis.
func (n nemesis) suffer(t testing.TB, program string, points []string, seed uint64, letters, kills int) (*run, error) {
	b, during, heal := n.world(t, seed)
	r, err := newRun(t, program, b, newTally(points, 1e6, 1e6), seed, letters, kills)
	if err != nil {
		return nil, fmt.Errorf("begin %s, seed %d: %w", n.name, seed, err)
	}
	defer r.program.kill()
	r.rough = true
	if n.play != nil {
		return r, errors.Join(r.begin(), n.play(r))
	}
	ctx, stop := context.WithCancel(t.Context())
	ill := make(chan error, 1)
	go func() {
		if during == nil {
			ill <- nil
			return
		}
		ill <- during(ctx)
	}()
	err = r.storm()
	stop()
	err = errors.Join(err, <-ill)
	if heal != nil {
		err = errors.Join(err, heal(t.Context()))
	}
	if err == nil {
		err = r.finish()
	}
	return r, err
}

func kafkaOn(t testing.TB, server *sourcetest.KafkaServer, brokers string, seed uint64) *kafka {
	t.Helper()
	k, err := newKafka(t.Context(), server.Address, brokers, name("orders", seed))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.close)
	return k
}

func sqsOn(t testing.TB, kind, direct, endpoint string, seed uint64, fifo bool) *sqs {
	t.Helper()
	s, err := newSQS(t.Context(), kind, direct, endpoint, name("jobs", seed), fifo)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// killedBroker is a Kafka that is killed as the program is, and started again.
var killedBroker = nemesis{name: "Kafka: broker killed", world: func(t testing.TB, seed uint64) (broker, func(context.Context) error, func(context.Context) error) {
	server := sourcetest.StartKafka(t, sourcetest.KafkaOptions{})
	during := func(ctx context.Context) error {
		for wait(ctx, 4*time.Second) {
			server.Kill()
			brokerKills.Add(1)
			server.Restart(t)
		}
		return nil
	}
	return kafkaOn(t, server, server.Address, seed), during, nil
}}

// hungBroker is a Kafka that hangs for some seconds, with its connections open.
var hungBroker = nemesis{name: "Kafka: broker hangs for 5 s", world: func(t testing.TB, seed uint64) (broker, func(context.Context) error, func(context.Context) error) {
	server := sourcetest.StartKafka(t, sourcetest.KafkaOptions{})
	during := func(ctx context.Context) error {
		for wait(ctx, 3*time.Second) {
			err := server.Signal(syscall.SIGSTOP)
			wait(ctx, 5*time.Second)
			if err = errors.Join(err, server.Signal(syscall.SIGCONT)); err != nil {
				return err
			}
		}
		return nil
	}
	return kafkaOn(t, server, server.Address, seed), during, nil
}}

// lostAcks is a way to Kafka on which produce requests and answers are lost,
// and on which the broker says that it does not know a batch that it has.
var lostAcks = nemesis{name: "Kafka: requests and answers lost, batches denied", world: func(t testing.TB, seed uint64) (broker, func(context.Context) error, func(context.Context) error) {
	server := sourcetest.SharedKafka(t)
	c := newChance(seed, 3, loseRequest, loseAnswer, denyAnswer)
	k := kafkaOn(t, server, startLossyKafka(t, server.Address, c), seed)
	return k, nil, func(context.Context) error { c.heal(); return nil }
}}

// tooLarge is a target that takes no large records for a while.
var tooLarge = nemesis{name: "Kafka: record too large", world: func(t testing.TB, seed uint64) (broker, func(context.Context) error, func(context.Context) error) {
	server := sourcetest.SharedKafka(t)
	k := kafkaOn(t, server, server.Address, seed)
	during := func(ctx context.Context) error {
		for wait(ctx, 2*time.Second) {
			if err := k.set(ctx, "max.message.bytes", "2000"); err != nil {
				return err
			}
			if wait(ctx, 7*time.Second) {
				if err := k.set(ctx, "max.message.bytes", "1048588"); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return k, during, func(ctx context.Context) error {
		wait(ctx, 6*time.Second) // the program asks anew after five
		return k.set(ctx, "max.message.bytes", "1048588")
	}
}}

// full is a target that takes nothing for a while: not enough replicas.
var full = nemesis{name: "Kafka: not enough replicas", world: func(t testing.TB, seed uint64) (broker, func(context.Context) error, func(context.Context) error) {
	server := sourcetest.SharedKafka(t)
	k := kafkaOn(t, server, server.Address, seed)
	during := func(ctx context.Context) error {
		for wait(ctx, 2*time.Second) {
			if err := k.set(ctx, "min.insync.replicas", "2"); err != nil {
				return err
			}
			if wait(ctx, 4*time.Second) {
				if err := k.set(ctx, "min.insync.replicas", "1"); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return k, during, func(ctx context.Context) error { return k.set(ctx, "min.insync.replicas", "1") }
}}

// lossy is an SQS endpoint to which batches are lost on the way, or their
// answers are.
func lossy(name string, endpoint func(testing.TB) string, fifo bool) nemesis {
	return nemesis{name: name, world: func(t testing.TB, seed uint64) (broker, func(context.Context) error, func(context.Context) error) {
		direct := endpoint(t)
		c := newChance(seed, 4, loseRequest, loseAnswer)
		by := lossySQS(t, direct, c, "SendMessageBatch", "DeleteMessageBatch", "ChangeMessageVisibilityBatch")
		kind, _, _ := strings.Cut(name, ":")
		return sqsOn(t, strings.TrimSuffix(kind, " FIFO"), direct, by, seed, fifo), nil, func(context.Context) error { c.heal(); return nil }
	}}
}

// partial is our own endpoint, which fails entries of a batch inside a 200.
func partial(fifo bool) nemesis {
	name := map[bool]string{false: "own endpoint: entries of a batch fail", true: "own endpoint FIFO: entries of a batch fail"}[fifo]
	return nemesis{name: name, world: func(t testing.TB, seed uint64) (broker, func(context.Context) error, func(context.Context) error) {
		server := sqstest.New(sqstest.Options{})
		endpoint := server.Start(t)
		s := sqsOn(t, "own endpoint", endpoint, endpoint, seed, fifo)
		c := newChance(seed, 2, loseAnswer)
		server.SetFault(func(call sqstest.Call) *sqstest.Fault {
			ours := call.Action == "SendMessageBatch" && call.Queue == s.target() || call.Action == "DeleteMessageBatch" && call.Queue == s.queue()
			if !ours || c.next() == pass {
				return nil
			}
			final := call.Action == "SendMessageBatch" && call.At.UnixNano()%3 == 0
			return &sqstest.Fault{Entries: map[int]sqstest.EntryFailed{0: {Code: "InternalError", Message: "asked for", SenderFault: final}}}
		})
		return s, nil, func(context.Context) error { c.heal(); server.SetFault(nil); return nil }
	}}
}

func ownEndpoint(t testing.TB) string { return sqstest.New(sqstest.Options{}).Start(t) }

func localStack(t testing.TB) string { return sourcetest.SharedLocalStack(t).Endpoint }

func nemeses() []nemesis {
	return []nemesis{
		killedBroker, hungBroker, lostAcks, tooLarge, full, deletedTarget(false), deletedTarget(true), twoTabs, laterArrivals,
		lossy("own endpoint: requests and answers lost", ownEndpoint, false),
		lossy("own endpoint FIFO: requests and answers lost", ownEndpoint, true),
		lossy("LocalStack: requests and answers lost", localStack, false),
		lossy("LocalStack FIFO: requests and answers lost", localStack, true),
		partial(false), partial(true),
	}
}

// deletedTarget is a target that is deleted in the middle of a redrive, and
// made again at once, or when all is over.
func deletedTarget(again bool) nemesis {
	name := map[bool]string{false: "Kafka: target deleted", true: "Kafka: target deleted and made again"}[again]
	return nemesis{name: name, world: func(t testing.TB, seed uint64) (broker, func(context.Context) error, func(context.Context) error) {
		server := sourcetest.SharedKafka(t)
		return kafkaOn(t, server, server.Address, seed), nil, nil
	}, play: func(r *run) error { return loseTarget(r, r.broker.(*kafka), again) }}
}

func loseTarget(r *run, k *kafka, again bool) error {
	body := map[string]any{"ids": idsOf(r.letters), "confirm": confirmed, "rate_per_second": len(r.letters) / 4}
	if _, err := r.post(r.ctx, "/api/v1/redrives", body, nil); err != nil {
		return err
	}
	wait(r.ctx, time.Second+time.Duration(r.rnd.IntN(2000))*time.Millisecond)
	if _, err := k.admin.DeleteTopics(r.ctx, k.name); err != nil {
		return err
	}
	remake := func() error {
		return eventually(r.ctx, 20*time.Second, func() error { return k.create(r.ctx, k.name, targetPartitions) })
	}
	if again {
		if err := remake(); err != nil {
			return err
		}
	}
	for range 3 { // and the program dies meanwhile
		wait(r.ctx, time.Duration(r.rnd.IntN(1500))*time.Millisecond)
		r.program.kill()
		r.counts.kills++
		if err := r.begin(); err != nil {
			return err
		}
	}
	if err := r.settled(3 * time.Minute); err != nil {
		return err
	}
	if !again {
		if err := remake(); err != nil {
			return err
		}
		wait(r.ctx, 3*time.Second)
	}
	return judgeRemade(r, k)
}

// judgeRemade wants nothing of the old plan in the new topic, and then, when
// what is open was redriven anew, that and nothing else.
func judgeRemade(r *run, k *kafka) error {
	before, _, err := r.ledger(r.ctx)
	if err != nil {
		return err
	}
	got, err := k.arrived(r.ctx)
	if err != nil {
		return err
	}
	for _, a := range got {
		r.violate("the topic that was made again has %s of the old plan at %s", a.lineage, a.where)
	}
	gone := map[string]bool{} // with the old topic
	for id, items := range before {
		for _, i := range items {
			if i.State == "unknown" {
				r.flagged[id] = true
			}
			if i.passed() {
				gone[id] = true
			}
		}
	}
	if len(gone) == 0 || len(gone) == len(r.letters) {
		r.t.Logf("%s: the target was deleted when %d of %d letters had passed", r.queue(), len(gone), len(r.letters))
	}
	if _, err := r.decide(r.ctx); err != nil {
		return err
	}
	if _, err := r.rest(); err != nil {
		return err
	}
	there, err := r.there(r.ctx)
	if err != nil {
		return err
	}
	r.counts.flagged = len(r.flagged)
	for _, l := range r.letters {
		want := 1
		if gone[l.id] {
			want = 0
		}
		r.counts.arrived += there[l.id]
		if there[l.id] != want {
			r.violate("letter %s is there %d times, want %d: %s", l.id, there[l.id], want, show(before[l.id]))
		}
	}
	left, err := k.left(r.ctx)
	if err == nil && slices.ContainsFunc(r.letters, func(l *letter) bool { return !left[l.where] }) {
		r.violate("letters are gone from the dead-letter topic")
	}
	return err
}

func onSharedKafka(t testing.TB, seed uint64) (broker, func(context.Context) error, func(context.Context) error) {
	server := sourcetest.SharedKafka(t)
	return kafkaOn(t, server, server.Address, seed), nil, nil
}

// twoTabs are people who all start the same letters at the same time, by plans
// and by ids that overlap. Each letter may be started once.
var twoTabs = nemesis{name: "Kafka: many tabs on the same letters", world: onSharedKafka, play: func(r *run) error {
	for len(r.open) > 0 {
		some := r.choose()
		ids := idsOf(some)
		var plan struct{ Plan string }
		if _, err := r.post(r.ctx, "/api/v1/redrives", map[string]any{"ids": ids, "dry_run": true}, &plan); err != nil {
			return err
		}
		bodies := []map[string]any{{"plan": plan.Plan}, {"ids": ids}, {"plan": plan.Plan}, {"ids": ids[:1+len(ids)/2]}, {"ids": ids[len(ids)/2:]}, {"ids": ids}}
		errs := make(chan error, len(bodies))
		for _, body := range bodies {
			go func() {
				_, err := r.post(r.ctx, "/api/v1/redrives", body, nil)
				errs <- r.notNow(err)
			}()
		}
		for range bodies {
			if err := <-errs; err != nil {
				return err
			}
		}
		if _, err := r.learn(r.ctx); err != nil {
			return err
		}
	}
	return r.finish()
}}

// laterArrivals are letters that are dead-lettered after a plan was made by a
// filter: they stay.
var laterArrivals = nemesis{name: "Kafka: letters that arrive after the plan", world: onSharedKafka, play: func(r *run) error {
	var plan struct {
		Plan  string
		Total int
	}
	planned := len(r.letters)
	if _, err := r.post(r.ctx, "/api/v1/redrives", map[string]any{"filter": map[string]any{"queue": r.queue()}, "dry_run": true}, &plan); err != nil {
		return err
	}
	later, err := r.fill(r.ctx, r.rnd, planned/4)
	if err != nil {
		return err
	}
	r.letters = append(r.letters, later...)
	if err := errors.Join(r.list(len(r.letters)), r.plan()); err != nil {
		return err
	}
	if _, err := r.post(r.ctx, "/api/v1/redrives", map[string]any{"plan": plan.Plan}, nil); err != nil {
		return err
	}
	if err := r.settled(time.Minute); err != nil {
		return err
	}
	there, err := r.there(r.ctx)
	if err != nil {
		return err
	}
	if n := len(there); n != planned || plan.Total != planned {
		r.violate("%d letters were planned and %d arrived", planned, n)
	}
	for _, l := range later {
		if there[l.id] > 0 {
			r.violate("letter %s arrived after the plan was made, and was sent with it", l.id)
		}
	}
	return r.finish()
}}
