package main

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/convention"
	"github.com/unwedge/unwedge/sources/kafka"
	"github.com/unwedge/unwedge/sources/sourcetest"
	"github.com/unwedge/unwedge/store"
)

// benchPartitions is how many partitions each topic has.
const benchPartitions = 6

// redriveLetters is how many letters a run redrives: UNWEDGE_BENCH_LETTERS, else
// 30,000.
func redriveLetters() int {
	if n, err := strconv.Atoi(os.Getenv("UNWEDGE_BENCH_LETTERS")); err == nil {
		return n
	}
	return 30_000
}

// BenchmarkRedrive redrives letters of about a kilobyte through the real desk,
// ledger, worker and adapter to a real Kafka, and compares that with plain
// producing in the same run: the very records that the redrive has put on its
// target, each by one asynchronous Produce of franz-go with its defaults
// (idempotent, acks=all, its own batching) but for compression, which ours has
// none of either, to a topic with as many partitions of the same broker.
//
// The time of the redrive runs from the start of the worker to the end of the
// job: every letter read, written down and synced, sent, acknowledged by the
// broker, confirmed in the ledger and audited. The ratio with-start has in it
// what the start of the plan takes too: the check whether its world is still
// the same, and a row of the ledger for each letter.
func BenchmarkRedrive(b *testing.B) {
	server := sourcetest.SharedKafka(b)
	var ratios, withStart, packed, grown []float64
	for run := 0; b.Loop(); run++ {
		r := newRedriveBench(b, server.Address, run, redriveLetters())
		debug.FreeOSMemory()
		before := resident(b)
		start, work := r.redrive(b)
		grown = append(grown, float64(r.most-before)/(1<<20))
		b.Logf("resident: %d MiB before the redrive, at most %d MiB", before>>20, r.most>>20)
		sent := r.read(b)
		plain := r.produce(b, sent, fmt.Sprintf("bench.plain.%d", run), kgo.NoCompression())
		snappy := r.produce(b, sent, fmt.Sprintf("bench.snappy.%d", run), kgo.SnappyCompression())
		b.Logf("%d letters: started in %s, redriven in %s, produced in %s, with snappy in %s", r.letters, start, work, plain, snappy)
		ratios = append(ratios, plain.Seconds()/work.Seconds())
		withStart = append(withStart, plain.Seconds()/(start+work).Seconds())
		packed = append(packed, snappy.Seconds()/work.Seconds())
		r.close()
	}
	for name, all := range map[string][]float64{"ratio": ratios, "ratio-with-start": withStart, "ratio-to-snappy": packed} {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], name+"-median")
		b.ReportMetric(all[len(all)-1], name+"-best")
	}
	b.ReportMetric(slices.Max(grown), "MiB-grown-most")
	b.ReportMetric(0, "ns/op")
}

// redriveBench is a store that has collected the letters of a topic.
type redriveBench struct {
	address       string
	letters       int
	target, queue string
	client        *kgo.Client
	source        benchSource
	db            *store.Store
	most          int64 // bytes that the process had at most while it redrove
}

// benchSource is an adapter as a redrive uses it.
type benchSource interface {
	review.Reader
	review.Sender
	review.Receivers
	Close()
}

func newRedriveBench(b *testing.B, address string, run, letters int) *redriveBench {
	b.Helper()
	r := &redriveBench{address: address, letters: letters, target: fmt.Sprintf("bench.orders.%d", run), queue: fmt.Sprintf("bench.orders.%d-dlt", run)}
	r.client = benchClient(b, address)
	createTopics(b, r.client, benchPartitions, r.target, r.queue)
	r.fill(b)
	source, err := kafka.New(kafka.Config{Name: "bench", Brokers: []string{address}, DeadLetters: sources.Patterns{Include: []string{r.queue}}, From: kafka.From{All: true}})
	if err != nil {
		b.Fatal(err)
	}
	r.source = source
	path := filepath.Join(b.TempDir(), "unwedge.db")
	if r.db, err = store.Open(b.Context(), path); err != nil {
		b.Fatal(err)
	}
	r.collect(b)
	waitIndexed(b, path, r.letters)
	return r
}

// resident is how many bytes of memory this process has, by Linux.
func resident(b *testing.B) int64 {
	b.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		b.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

func (r *redriveBench) close() {
	r.source.Close()
	r.client.Close()
	_ = r.db.Close() // the directory goes with the benchmark
}

func benchClient(b *testing.B, address string, opts ...kgo.Opt) *kgo.Client {
	b.Helper()
	client, err := kgo.NewClient(append(opts, kgo.SeedBrokers(address), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		b.Fatal(err)
	}
	return client
}

// fill writes dead letters as Spring's recoverer does.
func (r *redriveBench) fill(b *testing.B) {
	b.Helper()
	var failed sync.Once
	for i := range r.letters {
		from := int32(i % benchPartitions)
		record := &kgo.Record{
			Topic: r.queue, Partition: int32(i * 7 % benchPartitions), Key: fmt.Appendf(nil, "user-%d", i%5000), Value: payment(i),
			Headers: []kgo.RecordHeader{
				{Key: "traceparent", Value: fmt.Appendf(nil, "00-%032x-%016x-01", i*7919, i)},
				{Key: "content-type", Value: []byte("application/json")},
				{Key: "kafka_dlt-original-topic", Value: []byte(r.target)},
				{Key: "kafka_dlt-original-partition", Value: binary.BigEndian.AppendUint32(nil, uint32(from))},
				{Key: "kafka_dlt-original-offset", Value: binary.BigEndian.AppendUint64(nil, uint64(i))},
				{Key: "kafka_dlt-original-timestamp", Value: binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixMilli()))},
				{Key: "kafka_dlt-exception-fqcn", Value: []byte("org.springframework.kafka.listener.ListenerExecutionFailedException")},
				{Key: "kafka_dlt-exception-message", Value: []byte("the currency of the payment is not known")},
			},
		}
		r.client.Produce(b.Context(), record, func(_ *kgo.Record, err error) {
			if err != nil {
				failed.Do(func() { b.Error(err) })
			}
		})
	}
	if err := r.client.Flush(b.Context()); err != nil || b.Failed() {
		b.Fatal(err)
	}
}

// payment is about a kilobyte of JSON.
func payment(i int) []byte {
	return fmt.Appendf(nil, `{"payment_id":"pay_%08d","currency":"INRR","amount_minor":%d,"merchant":"m_%05d","note":%q}`, i, i*7, i%500, filler)
}

// collect brings all letters into the store.
func (r *redriveBench) collect(b *testing.B) {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	all := make(chan struct{})
	count := 0
	c := &review.Collector{
		Feeds: []review.Feed{{Reader: r.source, Every: time.Second}}, Keeper: r.db, Fingerprint: review.Fingerprint, Log: slog.New(slog.DiscardHandler),
		Changed: func(ids []string) {
			if count += len(ids); count == r.letters {
				close(all)
			}
		},
	}
	var done sync.WaitGroup
	done.Go(func() { _ = c.Run(ctx) })
	<-all
	stop()
	done.Wait()
}

// waitIndexed waits until the letters can be found by their words, which is done
// behind their arrival: it is not what is measured.
func waitIndexed(b *testing.B, path string, letters int) {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=query_only(1)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	for indexed := 0; indexed < letters; <-time.After(100 * time.Millisecond) {
		if err := db.QueryRowContext(b.Context(), `SELECT value FROM counters WHERE name = 'indexed'`).Scan(&indexed); err != nil {
			b.Fatal(err)
		}
	}
}

// redrive redrives every letter, and tells how long the start took and how long
// the work.
func (r *redriveBench) redrive(b *testing.B) (start, work time.Duration) {
	b.Helper()
	rules := review.Rules{To: sources.Patterns{Include: []string{"*"}}, Names: convention.Parents}
	ended := make(chan struct{}, 1)
	worker := review.NewWorker(review.Books{Ledger: r.db, Journal: r.db, Course: r.db, Fates: r.db, Shifts: r.db}, map[string]review.Sender{"bench": r.source}, slog.New(slog.DiscardHandler))
	worker.Changed = func(string) {
		select {
		case ended <- struct{}{}:
		default:
		}
	}
	desk := &review.Desk{Letters: r.db, Plans: r.db, Starter: r.db, Outlets: map[string]review.Outlet{"bench": {Sender: r.source, Rules: rules, Receivers: r.source}}, Now: time.Now, Started: worker.Wake}
	plan, err := desk.Plan(b.Context(), review.Request{Selection: review.Selection{Filter: &review.Filter{Queues: []string{r.queue}}}, By: "bench"})
	if err != nil || plan.Total != r.letters {
		b.Fatalf("%d letters planned, %v", plan.Total, err)
	}
	var confirm []string
	for _, w := range plan.Warnings {
		confirm = append(confirm, w.Code)
	}
	begun := time.Now()
	job, err := desk.Start(b.Context(), review.Request{Plan: plan.ID, Confirm: confirm, By: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	start = time.Since(begun)
	begun = time.Now()
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	var done sync.WaitGroup
	done.Go(func() { _ = worker.Run(ctx) })
	for job.EndedAt.IsZero() {
		<-ended
		r.most = max(r.most, resident(b))
		if job, err = r.db.Redrive(b.Context(), job.ID); err != nil {
			b.Fatal(err)
		}
	}
	work = time.Since(begun)
	stop()
	done.Wait()
	if n := job.Counts[review.Confirmed] + job.Counts[review.ItemConsumed]; n != r.letters {
		b.Fatalf("%d of %d are confirmed: %+v", n, r.letters, job)
	}
	return start, work
}

// read gives what the redrive has put on the target, and fails when it is not
// every letter once.
func (r *redriveBench) read(b *testing.B) []*kgo.Record {
	b.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(r.address), kgo.ConsumeTopics(r.target), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	var all []*kgo.Record
	for len(all) < r.letters {
		all = append(all, client.PollFetches(b.Context()).Records()...)
	}
	if len(all) != r.letters {
		b.Fatalf("%d records on the target, want %d", len(all), r.letters)
	}
	return all
}

// produce produces records plainly, and tells how long that took until the last
// one was acknowledged.
func (r *redriveBench) produce(b *testing.B, records []*kgo.Record, topic string, codec kgo.CompressionCodec) time.Duration {
	b.Helper()
	client := benchClient(b, r.address, kgo.ProducerBatchCompression(codec))
	defer client.Close()
	createTopics(b, client, benchPartitions, topic)
	again := make([]*kgo.Record, len(records))
	for i, old := range records {
		again[i] = &kgo.Record{Topic: topic, Partition: old.Partition, Key: old.Key, Value: old.Value, Headers: old.Headers}
	}
	begun := time.Now()
	for _, record := range again {
		client.Produce(b.Context(), record, func(_ *kgo.Record, err error) {
			if err != nil {
				b.Error(err)
			}
		})
	}
	if err := client.Flush(b.Context()); err != nil || b.Failed() {
		b.Fatal(err)
	}
	return time.Since(begun)
}
