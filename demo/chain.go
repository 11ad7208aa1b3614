package demo

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// hopDelay is how long each hop of the chain holds a record.
const hopDelay = 1500 * time.Millisecond

// retry is the consumer that gives up correctly: what it throws on goes
// through the hops of the chain, and then to the dead-letter topic with the
// headers of Spring's recoverer.
func retry(ctx context.Context, brokers []string, fixed func() bool) {
	producer, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return // only options of our own
	}
	defer producer.Close()
	pay := payOrThrow(fixed)
	consume(ctx, brokers, eventsGroup, "events-1", func(r *kgo.Record) error {
		if slices.Contains(hops, r.Topic) {
			wait(ctx, hopDelay-time.Since(r.Timestamp))
		}
		if err := pay(r); err != nil {
			return producer.ProduceSync(ctx, next(r, err)).FirstErr()
		}
		return nil
	}, kgo.ConsumeTopics(append([]string{paymentEvents}, hops...)...))
}

// next is the record that a failed one becomes: at the next hop, or dead.
func next(r *kgo.Record, cause error) *kgo.Record {
	hop := slices.Index(hops, r.Topic) + 1
	if hop < len(hops) {
		headers := r.Headers
		if hop == 0 {
			headers = append(slices.Clone(headers), origin(r)...)
		}
		return &kgo.Record{Topic: hops[hop], Partition: r.Partition, Key: r.Key, Value: r.Value, Headers: headers}
	}
	headers := append(slices.Clone(r.Headers), failure("com.acme.payments.InvalidCurrencyException", cause.Error(), "com.acme.payments.CurrencyTable.of(CurrencyTable.java:88)")...)
	return &kgo.Record{Topic: paymentsDead, Partition: r.Partition % 3, Key: r.Key, Value: r.Value, Headers: headers}
}

// origin is what Spring's recoverer writes of where a record came from.
func origin(r *kgo.Record) []kgo.RecordHeader {
	return []kgo.RecordHeader{
		{Key: "kafka_dlt-original-topic", Value: []byte(r.Topic)},
		{Key: "kafka_dlt-original-partition", Value: binary.BigEndian.AppendUint32(nil, uint32(r.Partition))},
		{Key: "kafka_dlt-original-offset", Value: binary.BigEndian.AppendUint64(nil, uint64(r.Offset))},
		{Key: "kafka_dlt-original-timestamp", Value: binary.BigEndian.AppendUint64(nil, uint64(r.Timestamp.UnixMilli()))},
		{Key: "kafka_dlt-original-timestamp-type", Value: []byte("CreateTime")},
		{Key: "kafka_dlt-original-consumer-group", Value: []byte(eventsGroup)},
	}
}

// failure is what Spring's recoverer writes of why a record failed.
func failure(class, message, frame string) []kgo.RecordHeader {
	const wrapper = "org.springframework.kafka.listener.ListenerExecutionFailedException"
	stack := strings.Join([]string{
		wrapper + ": Listener failed; " + message,
		"\tat org.springframework.kafka.listener.adapter.MessagingMessageListenerAdapter.invokeHandler(MessagingMessageListenerAdapter.java:398)",
		"Caused by: " + class + ": " + message,
		"\tat " + frame,
		"\tat com.acme.payments.PaymentListener.onPayment(PaymentListener.java:41)",
	}, "\n")
	return []kgo.RecordHeader{
		{Key: "kafka_dlt-exception-fqcn", Value: []byte(wrapper)},
		{Key: "kafka_dlt-exception-cause-fqcn", Value: []byte(class)},
		{Key: "kafka_dlt-exception-message", Value: []byte(message)},
		{Key: "kafka_dlt-exception-stacktrace", Value: []byte(stack)},
	}
}
