// Package demo plays the story of the product with nothing installed: an
// embedded Kafka and SQS, workers that really consume, throw and commit, and a
// pager that only writes down what it receives. Nothing of it is scripted but
// what the producers write; the dashboard sees it through the same adapters as
// any other cluster.
package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// StallAfter is the demo's stall_after: a visitor waits seconds, not minutes.
const StallAfter = 8 * time.Second

// firstBad is when the story's bad record is written, after the start.
const firstBad = 12 * time.Second

// World is the running demo.
type World struct {
	Brokers     []string // of the embedded Kafka
	SQSEndpoint string   // of the embedded SQS
	PagerURL    string   // of the fake pager, for Events API v2
	Pager       *Pager
	StopURL     string // stops the workers of the retries, by a signed call
	StartURL    string // starts them again
	CallSecret  string // signs both

	dir     string // data of the embedded Kafka; removed at the end
	kafka   *kfake.Cluster
	queues  *queueWorld
	topics  *topicWorld
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	fixed  bool // the consumers' fix is deployed
	crew   *crew
	again  *crew // the workers of the retries
	calls  *caller
	bad    int
	events []Moment
}

// Moment is something that happened in the story.
type Moment struct {
	At   time.Time
	Text string
}

// Start starts everything on loopback. Close ends it.
func Start() (*World, error) {
	w := &World{}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	if err := w.start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the demo: %w", err), w.Close())
	}
	return w, nil
}

func (w *World) start() (err error) {
	if w.dir, err = os.MkdirTemp("", "unwedge-demo-"); err != nil {
		return err
	}
	if w.kafka, err = startKafka(w.dir); err != nil {
		return err
	}
	w.Brokers = w.kafka.ListenAddrs()
	if w.topics, err = newTopicWorld(w.Brokers); err != nil {
		return err
	}
	if w.queues, err = startQueues(); err != nil {
		return err
	}
	w.SQSEndpoint = w.queues.endpoint
	if w.Pager, w.PagerURL, err = startPager(); err != nil {
		return err
	}
	if err := w.takeCalls(); err != nil {
		return err
	}
	if err := w.topics.seed(w.ctx, time.Now()); err != nil {
		return err
	}
	w.queues.seed(time.Now())
	w.tell("Payments come in.")
	w.StartWorkers()
	w.background(w.topics.traffic)
	w.background(w.queues.traffic)
	w.background(w.forget)
	w.background(w.writeFirstBad)
	return nil
}

// background runs a part of the world until it closes.
func (w *World) background(f func(context.Context)) {
	w.running.Go(func() { f(w.ctx) })
}

// forget lets the embedded Kafka apply its retention, so that a demo that is
// left running does not grow.
func (w *World) forget(ctx context.Context) {
	every(ctx, time.Minute, w.kafka.ApplyRetention)
}

// every calls f at each interval until the context ends.
func every(ctx context.Context, interval time.Duration, f func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f()
		}
	}
}

func (w *World) writeFirstBad(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(firstBad):
		w.WriteBad()
	}
}

// Close ends the workers, the servers and their data.
func (w *World) Close() error {
	w.StopWorkers()
	w.cancel()
	w.running.Wait()
	if w.topics != nil {
		w.topics.client.Close()
	}
	if w.kafka != nil {
		w.kafka.Close()
	}
	var err error
	if w.calls != nil {
		err = w.calls.server.Close()
	}
	if w.queues != nil {
		w.queues.close()
	}
	if w.Pager != nil {
		err = errors.Join(err, w.Pager.close())
	}
	if w.dir != "" {
		err = errors.Join(err, os.RemoveAll(w.dir))
	}
	return err
}

// Deploy rolls out the consumers' fix, or takes it back: with it they know
// what to do with a malformed currency code.
func (w *World) Deploy(fixed bool) {
	w.mu.Lock()
	changed := w.fixed != fixed
	w.fixed = fixed
	w.mu.Unlock()
	switch {
	case !changed:
	case fixed:
		w.tell("The fix was deployed: the workers know the malformed currency code now.")
	default:
		w.tell("The fix was rolled back.")
	}
}

// Fixed tells whether the fix is deployed.
func (w *World) Fixed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fixed
}

// StartWorkers starts the consumers of every group that has workers.
func (w *World) StartWorkers() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.crew != nil {
		return
	}
	w.crew = startCrew(w.Brokers, w.queues, w.Fixed)
	w.note("The workers were started.")
	if w.again == nil {
		w.again = startRetriers(w.Brokers, w.Fixed)
	}
}

// takeCalls lets Unwedge stop and start the workers of the retries, and no others.
func (w *World) takeCalls() (err error) {
	var address string
	w.calls, address, err = startCaller(w.stopRetriers, w.startRetriers)
	if err == nil {
		w.StopURL, w.StartURL, w.CallSecret = address+"/stop", address+"/start", w.calls.secret
	}
	return err
}

func (w *World) stopRetriers() {
	w.mu.Lock()
	again := w.again
	w.again = nil
	if again != nil {
		w.note("The workers of the retries were stopped by a call.")
	}
	w.mu.Unlock()
	if again != nil {
		again.stop()
	}
}

func (w *World) startRetriers() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.again == nil {
		w.again = startRetriers(w.Brokers, w.Fixed)
		w.note("The workers of the retries were started by a call.")
	}
}

// StopWorkers stops them, as a deploy that went wrong would: they leave their
// groups and nothing is consumed.
func (w *World) StopWorkers() {
	w.mu.Lock()
	others, again := w.crew, w.again
	w.crew, w.again = nil, nil
	if others != nil {
		w.note("The workers were stopped.")
	}
	w.mu.Unlock()
	for _, c := range []*crew{others, again} {
		if c != nil {
			c.stop()
		}
	}
}

// WorkersRunning tells whether there are workers.
func (w *World) WorkersRunning() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.crew != nil
}

// WriteBad writes a payment with a malformed currency code twice: into the
// stream whose consumer throws on it for ever, and into the one whose consumer
// gives up after a chain of retries.
func (w *World) WriteBad() {
	w.mu.Lock()
	n := w.bad
	w.bad++
	w.mu.Unlock()
	partition, offset, err := w.topics.writeBad(w.ctx, n)
	if err != nil {
		w.tell("A bad record could not be written: " + err.Error())
		return
	}
	w.tell(fmt.Sprintf("A payment with the currency %q was written to %s, partition %d, offset %d, and to %s.", badCurrency, retryRequests, partition, offset, paymentEvents))
}

// BadWritten is how many bad records were written.
func (w *World) BadWritten() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bad
}

// Story is what happened so far, oldest first.
func (w *World) Story() []Moment {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Moment(nil), w.events...)
}

func (w *World) tell(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(text)
}

// mostMoments bounds what a demo that is left running remembers.
const mostMoments = 100

// note is tell for those who hold the lock.
func (w *World) note(text string) {
	w.events = append(w.events, Moment{time.Now(), text})
	if len(w.events) > mostMoments {
		w.events = w.events[len(w.events)-mostMoments:]
	}
}
