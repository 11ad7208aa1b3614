package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// The topics of the story.
const (
	retryRequests  = "payment.retry.requests" // its consumer throws for ever
	paymentEvents  = "payment.events"         // its consumer gives up through a chain of retries
	paymentsDead   = "payment.events.dlq"
	ledgerPostings = "ledger.postings"
	ledgerDead     = "ledger.postings.dlq"
	kycDead        = "kyc.events-dlt"
	notifications  = "notifications" // read by a share group
)

// hops is the chain of retries of payment.events. The names promise minutes;
// the demo's workers wait seconds.
var hops = []string{"payment.events.retry-5s", "payment.events.retry-1m", "payment.events.retry-10m"}

const (
	badCurrency = "INRR"
	badLine     = 3 // the partition that the story's bad record goes to
	lines       = 6
	hour        = time.Hour
	day         = 24 * hour
)

func startKafka(dir string) (*kfake.Cluster, error) {
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(3), kfake.DataDir(dir),
		kfake.BrokerConfigs(map[string]string{"group.consumer.heartbeat.interval.ms": "1000", "group.share.heartbeat.interval.ms": "1000"}),
	)
	if err != nil {
		return nil, err
	}
	keep := func(d time.Duration) map[string]string {
		return map[string]string{"retention.ms": strconv.FormatInt(d.Milliseconds(), 10)}
	}
	topics := map[string]struct {
		partitions int32
		keep       time.Duration
	}{
		retryRequests: {lines, 6 * hour}, paymentEvents: {lines, 6 * hour}, ledgerPostings: {4, 6 * hour}, notifications: {2, 6 * hour},
		paymentsDead: {3, 30 * day}, ledgerDead: {2, 30 * day}, kycDead: {2, 14 * day},
		hops[0]: {lines, day}, hops[1]: {lines, day}, hops[2]: {lines, day},
	}
	for name, t := range topics {
		if err := cluster.CreateTopic(name, t.partitions, keep(t.keep)); err != nil {
			cluster.Close()
			return nil, fmt.Errorf("create topic %s: %w", name, err)
		}
	}
	cluster.SetGroupConfigs(shareGroup, map[string]string{"share.auto.offset.reset": "earliest"})
	return cluster, nil
}

// topicWorld is the producers' side of the story.
type topicWorld struct{ client *kgo.Client }

func newTopicWorld(brokers []string) (*topicWorld, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		return nil, err
	}
	return &topicWorld{client}, nil
}

// traffic writes payments, postings and notifications until the demo ends.
func (t *topicWorld) traffic(ctx context.Context) {
	n := 0
	every(ctx, 200*time.Millisecond, func() {
		n++
		for line := range int32(lines) {
			if rand.IntN(4) > 0 {
				t.client.Produce(ctx, payment(retryRequests, line, "INR"), nil)
			}
		}
		t.client.Produce(ctx, payment(paymentEvents, int32(n%lines), "INR"), nil)
		t.client.Produce(ctx, posting(int32(n%4)), nil)
		if n%5 == 0 {
			t.client.Produce(ctx, notification(int32(n/5%2)), nil)
		}
	})
}

// writeBad writes the n-th bad payment into both streams, and says where the
// one lies that will wedge its line.
func (t *topicWorld) writeBad(ctx context.Context, n int) (partition int32, offset int64, err error) {
	wedging := payment(retryRequests, int32(badLine+n)%lines, badCurrency)
	given := payment(paymentEvents, int32(badLine+n)%lines, badCurrency)
	err = t.client.ProduceSync(ctx, wedging, given).FirstErr()
	return wedging.Partition, wedging.Offset, err
}

var methods = []string{"upi", "card", "netbanking", "wallet"}

func payment(topic string, line int32, currency string) *kgo.Record {
	id := name("pay_", 8)
	value := fmt.Sprintf(`{"payment_id":%q,"merchant_id":"mer_%05d","amount_minor":%d,"currency":%q,"method":%q,"attempt":%d,"requested_at":%q}`,
		id, 40000+rand.IntN(400), 100*(1+rand.IntN(5000)), currency, methods[rand.IntN(len(methods))], 1+rand.IntN(3), time.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
	return &kgo.Record{
		Topic: topic, Partition: line, Key: []byte(id), Value: []byte(value),
		Headers: []kgo.RecordHeader{{Key: "traceparent", Value: []byte("00-" + hex(32) + "-" + hex(16) + "-01")}, {Key: "producer", Value: []byte("checkout/4.18.0")}},
	}
}

func posting(line int32) *kgo.Record {
	account := fmt.Sprintf("acc_%04d", rand.IntN(3000))
	return &kgo.Record{
		Topic: ledgerPostings, Partition: line, Key: []byte(account),
		Value: fmt.Appendf(nil, `{"posting_id":%q,"account":%q,"amount_minor":%d,"side":"credit"}`, name("post_", 8), account, rand.IntN(100000)),
	}
}

func notification(line int32) *kgo.Record {
	return &kgo.Record{Topic: notifications, Partition: line, Value: fmt.Appendf(nil, `{"to":"user_%d","template":"payment_done"}`, rand.IntN(9000))}
}

const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// name makes an id that looks like one of a payment service.
func name(prefix string, n int) string {
	var b strings.Builder
	b.WriteString(prefix)
	for range n {
		b.WriteByte(letters[rand.IntN(len(letters))])
	}
	return b.String()
}

func hex(n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte("0123456789abcdef"[rand.IntN(16)])
	}
	return b.String()
}
