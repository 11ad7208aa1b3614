//go:build campaign

package nights

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/unwedge/unwedge/sources/sourcetest"
)

// TestSoak runs the program, as it is shipped, over a Kafka on which everything
// goes on that goes on in a healthy cluster: rebalances, rolling restarts, idle
// topics, transactions that end either way, compaction, retention, consumers that
// are slow and such that commit rarely; and it restarts the program. Nothing of
// that is to page. SOAK_MINUTES is how long, 60 by default.
func TestSoak(t *testing.T) {
	length := time.Hour
	if text := os.Getenv("SOAK_MINUTES"); text != "" {
		minutes, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		length = time.Duration(minutes) * time.Minute
	}
	server := sourcetest.StartKafka(t, sourcetest.KafkaOptions{})
	s := newSoak(t, server.Address)
	ctx, stop := context.WithTimeout(t.Context(), length)
	defer stop()
	began := time.Now()
	s.traffic(ctx)
	s.live(ctx)
	s.all.Wait()
	s.report(time.Since(began))
}

// soak is one soak.
type soak struct {
	*testing.T
	address string
	dir     string
	listen  string
	pages   *httptest.Server
	heard   atomic.Int64
	all     sync.WaitGroup

	restarts, rebalances, stops, committed, aborted, written atomic.Int64
	verdicts                                                 map[string]int // readings of a partition, by group and verdict
	readings                                                 int
	incidents                                                []string
}

func newSoak(t *testing.T, address string) *soak {
	s := &soak{T: t, address: address, dir: t.TempDir(), listen: free(t), verdicts: map[string]int{}}
	s.pages = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.heard.Add(1)
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(s.pages.Close)
	for topic, config := range map[string]map[string]string{
		"steady": nil, "idle": nil, "rolling": nil, "slow": nil, "rare": nil, "crashy": nil,
		"settled":   nil, // in transactions
		"compacted": {"cleanup.policy": "compact", "segment.ms": "10000", "min.cleanable.dirty.ratio": "0.01", "delete.retention.ms": "1000"},
		"shortly":   {"retention.ms": "60000", "segment.ms": "10000"},
	} {
		s.create(topic, config)
	}
	return s
}

func (s *soak) create(topic string, config map[string]string) {
	values := map[string]*string{}
	for k, v := range config {
		values[k] = &v
	}
	client := kadm.NewClient(s.client())
	if _, err := client.CreateTopic(s.Context(), 6, 1, values, topic); err != nil {
		s.Fatal(err)
	}
}

func (s *soak) client(opts ...kgo.Opt) *kgo.Client {
	c, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(s.address)}, opts...)...)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(c.Close)
	return c
}

// traffic begins everything that writes and reads, until ctx ends.
func (s *soak) traffic(ctx context.Context) {
	s.write(ctx, "steady", 20)
	s.write(ctx, "rolling", 10)
	s.write(ctx, "crashy", 5)
	s.write(ctx, "rare", 5)
	s.write(ctx, "compacted", 10)
	s.write(ctx, "shortly", 10)
	s.bursts(ctx, "slow")
	s.transactions(ctx, "settled")
	for range 20 { // the idle topic is read to its end, and then nothing comes
		if err := s.client().ProduceSync(ctx, record("idle", rand.IntN(1000))).FirstErr(); err != nil {
			s.Fatal(err)
		}
	}
	for range 3 {
		s.read(ctx, "steady", reader{})
		s.read(ctx, "compacted", reader{})
		s.read(ctx, "shortly", reader{})
		s.read(ctx, "settled", reader{committed: true})
	}
	s.read(ctx, "idle", reader{})
	s.read(ctx, "slow", reader{each: 150 * time.Millisecond})
	s.read(ctx, "rare", reader{every: 150 * time.Second})
	for i := range 3 { // one after the other leaves and joins again
		s.read(ctx, "rolling", reader{lives: time.Duration(60+20*i) * time.Second, away: 10 * time.Second})
	}
	s.read(ctx, "crashy", reader{lives: 3 * time.Minute, away: 100 * time.Second}) // longer than a deploy, shorter than stall_after
}

func record(topic string, n int) *kgo.Record {
	return &kgo.Record{Topic: topic, Key: []byte("key-" + strconv.Itoa(n)), Value: fmt.Appendf(nil, `{"id":%d,"currency":"INR"}`, n)}
}

// write writes some records a second.
func (s *soak) write(ctx context.Context, topic string, perSecond int) {
	client := s.client()
	s.all.Go(func() {
		for tick := time.NewTicker(time.Second / time.Duration(perSecond)); ctx.Err() == nil; {
			client.Produce(ctx, record(topic, rand.IntN(200)), nil)
			s.written.Add(1)
			wait(ctx, tick.C)
		}
	})
}

// bursts writes more at once than its consumer takes in a minute, and then
// nothing for two.
func (s *soak) bursts(ctx context.Context, topic string) {
	client := s.client()
	s.all.Go(func() {
		for tick := time.NewTicker(3 * time.Minute); ctx.Err() == nil; {
			for range 900 {
				client.Produce(ctx, record(topic, rand.IntN(200)), nil)
				s.written.Add(1)
			}
			wait(ctx, tick.C)
		}
	})
}

// transactions writes in transactions, every third of which is aborted, and
// pauses now and then with an aborted one at the end.
func (s *soak) transactions(ctx context.Context, topic string) {
	client := s.client(kgo.TransactionalID("soak"), kgo.DefaultProduceTopic(topic))
	s.all.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			if client.BeginTransaction() != nil {
				return
			}
			for range 10 {
				client.Produce(ctx, record(topic, rand.IntN(200)), nil)
			}
			_ = client.Flush(ctx)
			end := kgo.TryCommit
			if n%3 == 2 {
				end = kgo.TryAbort
			}
			if err := client.EndTransaction(ctx, end); err == nil && bool(end) {
				s.committed.Add(1)
			} else if err == nil {
				s.aborted.Add(1)
			}
			pause := 2 * time.Second
			if n%30 == 29 {
				pause = 5 * time.Minute
			}
			wait(ctx, time.After(pause))
		}
	})
}

// reader is how a member of a group behaves.
type reader struct {
	each      time.Duration // how long a record takes
	every     time.Duration // between two commits; 0: after each poll
	lives     time.Duration // until it leaves; 0: it stays
	away      time.Duration // until it joins again
	committed bool
}

// read runs one member of the group that is named after its topic.
func (s *soak) read(ctx context.Context, topic string, r reader) {
	s.all.Go(func() {
		for ctx.Err() == nil {
			life, end := ctx, context.CancelFunc(func() {})
			if r.lives > 0 {
				life, end = context.WithTimeout(ctx, r.lives)
			}
			s.member(life, topic, r)
			end()
			if ctx.Err() == nil && r.lives > 0 {
				s.rebalances.Add(1)
				wait(ctx, time.After(r.away))
			}
		}
	})
}

func (s *soak) member(ctx context.Context, topic string, r reader) {
	opts := []kgo.Opt{
		kgo.SeedBrokers(s.address), kgo.ConsumerGroup(topic), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	}
	if r.committed {
		opts = append(opts, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	c, err := kgo.NewClient(opts...)
	if err != nil {
		s.Error(err)
		return
	}
	defer c.Close()
	last := time.Now()
	for ctx.Err() == nil {
		f := c.PollRecords(ctx, 100)
		f.EachRecord(func(*kgo.Record) {
			if r.each > 0 {
				wait(ctx, time.After(r.each))
			}
		})
		if time.Since(last) >= r.every && ctx.Err() == nil {
			_ = c.CommitUncommittedOffsets(ctx)
			last = time.Now()
		}
	}
	over, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = c.CommitUncommittedOffsets(over)
}

func wait[T any](ctx context.Context, c <-chan T) {
	select {
	case <-ctx.Done():
	case <-c:
	}
}

// live runs the program until ctx ends, and restarts it every seven minutes: by
// turns as a deploy does, and by kill -9.
func (s *soak) live(ctx context.Context) {
	config := fmt.Sprintf(`listen: %s
store: %s
sources:
  - name: soak
    kafka: {brokers: [%q]}
notify:
  - name: hook
    webhook: {url: %q, secret: soak}
`, s.listen, filepath.Join(s.dir, "unwedge.db"), s.address, s.pages.URL)
	path := filepath.Join(s.dir, "unwedge.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		s.Fatal(err)
	}
	s.all.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			s.life(ctx, path, n)
		}
	})
}

func (s *soak) life(ctx context.Context, config string, n int) {
	log, err := os.OpenFile(filepath.Join(s.dir, "unwedge.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.Error(err)
		return
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(executable(s.T), "serve", "--config", config)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		s.Error(err)
		return
	}
	life, end := context.WithTimeout(ctx, 7*time.Minute)
	defer end()
	for tick := time.NewTicker(15 * time.Second); life.Err() == nil; {
		wait(life, tick.C)
		if life.Err() == nil {
			s.look(life)
		}
	}
	if ctx.Err() == nil {
		s.restarts.Add(1)
	}
	signal := syscall.SIGTERM
	if n%2 == 1 {
		signal = syscall.SIGKILL
	}
	_ = cmd.Process.Signal(signal)
	_ = cmd.Wait()
}

// look counts what is said of each partition, and keeps every incident.
func (s *soak) look(ctx context.Context) {
	var lag struct {
		Groups []struct {
			Group      string
			Partitions []struct{ Verdict string }
		}
	}
	var incidents struct {
		Incidents []struct{ ID, Title, Reason string }
	}
	if s.get(ctx, "/api/v1/lag?limit=100", &lag) != nil || s.get(ctx, "/api/v1/incidents?limit=100", &incidents) != nil {
		return
	}
	s.readings++
	for _, g := range lag.Groups {
		for _, p := range g.Partitions {
			s.verdicts[g.Group+" "+p.Verdict]++
		}
	}
	for _, i := range incidents.Incidents {
		if text := i.ID + " " + i.Title + ": " + i.Reason; !slices.Contains(s.incidents, text) {
			s.incidents = append(s.incidents, text)
			s.Errorf("an incident: %s", text)
		}
	}
}

func (s *soak) get(ctx context.Context, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.listen+path, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	return json.NewDecoder(answer.Body).Decode(into)
}

// report prints the table for docs/campaign-pager.md, and fails for each page.
func (s *soak) report(took time.Duration) {
	if n := s.heard.Load(); n > 0 {
		s.Errorf("%d pages were sent", n)
	}
	if s.readings < int(took/time.Minute) {
		s.Errorf("only %d looks in %s", s.readings, took)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| minutes | looks | restarts of Unwedge | members that left and joined | transactions committed | aborted | records written | incidents | pages |\n|---|---|---|---|---|---|---|---|---|\n")
	fmt.Fprintf(&b, "| %.0f | %d | %d | %d | %d | %d | %d | %d | %d |\n\n", took.Minutes(), s.readings, s.restarts.Load(), s.rebalances.Load(), s.committed.Load(), s.aborted.Load(), s.written.Load(), len(s.incidents), s.heard.Load())
	fmt.Fprintf(&b, "| group, verdict | readings of a partition |\n|---|---|\n")
	var names []string
	for name := range s.verdicts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "| %s | %d |\n", name, s.verdicts[name])
	}
	s.Logf("\n%s", b.String())
	if path := os.Getenv("SOAK_TABLE"); path != "" {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			s.Error(err)
		}
	}
}
