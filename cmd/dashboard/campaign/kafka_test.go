package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// broker is a place with a dead-letter queue and the queue that its letters go
// back to. It is read with plain clients: it is the judge's only witness.
type broker interface {
	// source is its block of the configuration.
	source() string
	// queue is the dead-letter queue.
	queue() string
	// fill dead-letters n new letters.
	fill(ctx context.Context, rnd *rand.Rand, n int) ([]*letter, error)
	// arrived gives everything that has arrived at the target so far.
	arrived(ctx context.Context) ([]arrival, error)
	// left gives the places of what still lies in the dead-letter queue. The
	// program does not run.
	left(ctx context.Context) (map[string]bool, error)
	promises() promises
}

// promises are what docs/redrive.md says of a kind of broker.
type promises struct {
	kind      string
	keeps     bool // the dead-letter queue keeps its letters for ever
	ambiguous bool // a letter may be there twice, if the ledger said so before
	ordered   bool // letters of a group keep their order
}

// kafka is a dead-letter topic and its target on an Apache Kafka.
type kafka struct {
	name    string // of the target
	brokers string // as the program is told
	client  *kgo.Client
	admin   *kadm.Client
	filled  int // letters so far
}

const (
	deadPartitions   = 3
	targetPartitions = 4
)

// newKafka makes the two topics. direct is the broker's own address, and
// brokers the one that the program is given.
func newKafka(ctx context.Context, direct, brokers, name string) (*kafka, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(direct), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.MetadataMinAge(200*time.Millisecond))
	if err != nil {
		return nil, err
	}
	k := &kafka{name: name, brokers: brokers, client: client, admin: kadm.NewClient(client)}
	for topic, partitions := range map[string]int32{k.queue(): deadPartitions, k.name: targetPartitions} {
		if err := k.create(ctx, topic, partitions); err != nil {
			return nil, err
		}
	}
	return k, nil
}

func (k *kafka) create(ctx context.Context, topic string, partitions int32) error {
	keep := "-1"
	made, err := k.admin.CreateTopics(ctx, partitions, 1, map[string]*string{"retention.ms": &keep}, topic)
	return errors.Join(err, made.Error())
}

func (k *kafka) close() { k.client.Close() }

func (k *kafka) queue() string { return k.name + ".dlq" }

func (k *kafka) promises() promises { return promises{kind: "Kafka", keeps: true} }

func (k *kafka) source() string {
	return fmt.Sprintf(`  - name: kafka
    kafka:
      brokers: [%s]
      groups: {include: ["none"]}
      dead_letters: {include: ["%s"], from: all}
      redrive: [{from: "%s", to: "%s"}]
`, k.brokers, k.queue(), k.queue(), k.name)
}

func (k *kafka) fill(ctx context.Context, rnd *rand.Rand, n int) ([]*letter, error) {
	all := make([]*letter, n)
	records := make([]*kgo.Record, n)
	for i := range all {
		l := kafkaLetter(rnd, k.name, k.filled)
		k.filled++
		r := &kgo.Record{Topic: k.queue(), Partition: rnd.Int32N(deadPartitions), Key: l.key, Value: l.body, Timestamp: l.at}
		for _, h := range l.headers {
			r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.name, Value: h.value})
		}
		all[i], records[i] = l, r
	}
	if err := k.client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return nil, fmt.Errorf("dead-letter: %w", err)
	}
	for i, r := range records {
		all[i].where = place(r.Partition, r.Offset)
	}
	return all, nil
}

// arrived reads the target twice, read-committed and read-uncommitted: both
// kinds of readers must see the same.
func (k *kafka) arrived(ctx context.Context) ([]arrival, error) {
	committed, err := k.read(ctx, k.name, kgo.ReadCommitted())
	if err != nil {
		return nil, err
	}
	uncommitted, err := k.read(ctx, k.name, kgo.ReadUncommitted())
	if err != nil {
		return nil, err
	}
	if len(committed) != len(uncommitted) {
		return nil, fmt.Errorf("%d records are committed, and %d are there", len(committed), len(uncommitted))
	}
	all := make([]arrival, len(committed))
	for i, r := range committed {
		all[i] = arrivalOf(r)
	}
	return all, nil
}

func arrivalOf(r *kgo.Record) arrival {
	a := arrival{where: place(r.Partition, r.Offset), key: r.Key, size: len(r.Key) + len(r.Value)}
	var kept []header
	for _, h := range r.Headers {
		switch a.size += len(h.Key) + len(h.Value); h.Key {
		case lineageHeader:
			a.lineage += string(h.Value)
		case originHeader:
			a.origin += string(h.Value)
		default:
			kept = append(kept, header{name: h.Key, value: h.Value})
		}
	}
	a.print = fingerprint(r.Key, r.Value, kept, "")
	return a
}

func (k *kafka) left(ctx context.Context) (map[string]bool, error) {
	records, err := k.read(ctx, k.queue(), kgo.ReadUncommitted())
	all := map[string]bool{}
	for _, r := range records {
		all[place(r.Partition, r.Offset)] = true
	}
	return all, err
}

// read reads a topic from its start to the ends that it has now, in the order
// of partitions and offsets.
func (k *kafka) read(ctx context.Context, topic string, level kgo.IsolationLevel) ([]*kgo.Record, error) {
	ends, err := k.admin.ListEndOffsets(ctx, topic)
	if err = errors.Join(err, ends.Error()); err != nil {
		return nil, fmt.Errorf("find the ends of %s: %w", topic, err)
	}
	open := map[int32]int64{}
	from := map[int32]kgo.Offset{}
	ends.Each(func(o kadm.ListedOffset) {
		if from[o.Partition] = kgo.NewOffset().AtStart(); o.Offset > 0 {
			open[o.Partition] = o.Offset
		}
	})
	client, err := kgo.NewClient(kgo.SeedBrokers(k.client.OptValue(kgo.SeedBrokers).([]string)...),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}), kgo.FetchIsolationLevel(level), kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	var all []*kgo.Record
	for len(open) > 0 {
		fetched := client.PollFetches(ctx)
		if err := fetched.Err0(); err != nil {
			return nil, fmt.Errorf("read %s: %w", topic, err)
		}
		fetched.EachRecord(func(r *kgo.Record) {
			all = append(all, r)
			if r.Offset >= open[r.Partition]-1 {
				delete(open, r.Partition)
			}
		})
	}
	slices.SortFunc(all, func(a, b *kgo.Record) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
	})
	return all, nil
}
