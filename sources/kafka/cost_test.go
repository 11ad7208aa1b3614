package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources/kafka"
)

func containsText(err error, text string) bool { return strings.Contains(err.Error(), text) }

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

const mostRequests = 25

// TestOneReadingCostsAtMost25Requests: three brokers, 1,208 partitions, 300
// groups with members on all of them, once warm, and no more with more groups.
func TestOneReadingCostsAtMost25Requests(t *testing.T) {
	b := start(t, kfake.NumBrokers(3))
	topics := b.bigCluster()
	var requests atomic.Int64
	b.watch(func(kmsg.Request) { requests.Add(1) })
	s := b.source(func(c *kafka.Config) { c.Timeout = 0 })
	for _, groups := range []int{0, 100} {
		if groups == 0 {
			b.liveGroups(topics, 0, 200, 50, 50)
		} else {
			b.liveGroups(topics, 1000, 2*groups, groups/2, groups/2)
		}
		b.warm(s, 300+3*groups)
		for i := range 10 {
			requests.Store(0)
			b.groups(s)
			if n := requests.Load(); n > mostRequests {
				t.Errorf("%d groups, reading %d: %d requests", 300+3*groups, i, n)
			} else if i == 0 {
				t.Logf("%d groups: %d requests", 300+3*groups, n)
			}
		}
	}
}

func (b *bench) warm(s *kafka.Source, groups int) {
	b.Helper()
	for range 2 {
		if got := b.groups(s); len(got) != groups {
			b.Fatalf("%d groups, want %d", len(got), groups)
		}
	}
}

// bigCluster makes 151 topics of 8 partitions: 1,208.
func (b *bench) bigCluster() []string {
	var topics []string
	for i := range 151 {
		topics = append(topics, b.topic(fmt.Sprintf("topic-%03d", i), 8, nil))
	}
	return topics
}

// liveGroups makes groups that have a member each, by the bare protocol: a real
// client for each would be too heavy. Their names begin at first.
func (b *bench) liveGroups(topics []string, first, classic, consumer, share int) {
	b.Helper()
	for i := range classic {
		b.joinClassic(fmt.Sprintf("classic-%d", first+i), topics[i%len(topics)])
	}
	for i := range consumer {
		b.joinConsumer(fmt.Sprintf("consumer-%d", first+i), topics[i%len(topics)])
	}
	for i := range share {
		b.joinShare(fmt.Sprintf("share-%d", first+i), topics[i%len(topics)])
	}
}

func (b *bench) joinClassic(group, topic string) {
	b.Helper()
	for p := range int32(8) {
		b.commit(group, topic, p, 0)
	}
	meta := kmsg.NewConsumerMemberMetadata()
	meta.Topics = []string{topic}
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.ProtocolType, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = group, "consumer", 300_000, 60_000
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name, p.Metadata = "range", meta.AppendTo(nil)
	join.Protocols = append(join.Protocols, p)
	resp, err := join.RequestWith(context.Background(), b.client)
	b.must(err)
	join.MemberID = resp.MemberID // the first try only tells it (KIP-394)
	resp, err = join.RequestWith(context.Background(), b.client)
	b.must(err)
	assignment := kmsg.NewConsumerMemberAssignment()
	at := kmsg.NewConsumerMemberAssignmentTopic()
	at.Topic, at.Partitions = topic, []int32{0, 1, 2, 3, 4, 5, 6, 7}
	assignment.Topics = append(assignment.Topics, at)
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.MemberID, sync.Generation = group, resp.MemberID, resp.Generation
	ga := kmsg.NewSyncGroupRequestGroupAssignment()
	ga.MemberID, ga.MemberAssignment = resp.MemberID, assignment.AppendTo(nil)
	sync.GroupAssignment = append(sync.GroupAssignment, ga)
	if _, err = sync.RequestWith(context.Background(), b.client); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) joinConsumer(group, topic string) {
	b.Helper()
	for p := range int32(8) {
		b.commit(group, topic, p, 0)
	}
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Group, req.MemberID, req.RebalanceTimeoutMillis, req.SubscribedTopicNames = group, "member-of-"+group, 60_000, []string{topic}
	req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	resp, err := req.RequestWith(context.Background(), b.client)
	if err == nil && resp.ErrorCode != 0 {
		err = fmt.Errorf("code %d", resp.ErrorCode)
	}
	b.must(err)
}

func (b *bench) joinShare(group, topic string) {
	b.Helper()
	req := kmsg.NewPtrShareGroupHeartbeatRequest()
	req.GroupID, req.MemberID, req.SubscribedTopicNames = group, "member-of-"+group, []string{topic}
	resp, err := req.RequestWith(context.Background(), b.client)
	if err == nil && resp.ErrorCode != 0 {
		err = fmt.Errorf("code %d", resp.ErrorCode)
	}
	b.must(err)
}

// TestAnIdlePollOfManyQueuesIsOneRequestToEachBroker: 200 dead-letter topics.
func TestAnIdlePollOfManyQueuesIsOneRequestToEachBroker(t *testing.T) {
	b := start(t, kfake.NumBrokers(3))
	var queues []string
	for i := range 200 {
		queues = append(queues, b.topic(fmt.Sprintf("topic-%d.dlq", i), 3, nil))
	}
	s := b.source()
	for _, q := range queues {
		first, err := s.DeadLetters(t.Context(), q, nil, 10)
		b.must(err)
		_, err = s.DeadLetters(t.Context(), q, first.Next, 10)
		b.must(err)
	}
	if got, err := s.Changed(t.Context(), queues); err != nil || len(got) != 0 {
		t.Fatalf("%v, %v", got, err)
	}
	counts := map[int16]int{}
	var all atomic.Int64
	b.watch(func(r kmsg.Request) { counts[r.Key()]++; all.Add(1) })
	const polls = 5
	for range polls {
		if got, err := s.Changed(t.Context(), queues); err != nil || len(got) != 0 {
			t.Fatalf("%v, %v", got, err)
		}
	}
	if n := all.Load(); n > 3*polls+polls {
		t.Errorf("%d requests for %d polls: %v", n, polls, counts)
	}
	b.fill(queues[7], 2, 1)
	if got, err := s.Changed(t.Context(), queues); err != nil || len(got) != 1 || got[0] != queues[7] {
		t.Errorf("%v, %v", got, err)
	}
}

// BenchmarkLag reads 3 brokers, 1,208 partitions and 300 groups with members.
func BenchmarkLag(b *testing.B) {
	k := start(b, kfake.NumBrokers(3))
	k.liveGroups(k.bigCluster(), 0, 200, 50, 50)
	s := k.source(func(c *kafka.Config) { c.Timeout = 0 })
	k.warm(s, 300)
	var requests atomic.Int64
	k.watch(func(kmsg.Request) { requests.Add(1) })
	for b.Loop() {
		if _, err := s.Lag(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(requests.Load())/float64(b.N), "requests/op")
}

// BenchmarkDeadLetters reads letters of one kilobyte from one topic.
func BenchmarkDeadLetters(b *testing.B) {
	k := start(b)
	topic := k.topic("orders.dlq", 6, nil)
	const n = 30_000
	body := []byte(strings.Repeat("x", 1000))
	for i := range n {
		k.client.Produce(context.Background(), &kgo.Record{Topic: topic, Partition: int32(i % 6), Value: body}, nil)
	}
	k.must(k.client.Flush(context.Background()))
	s := k.source()
	for b.Loop() {
		var cursor []byte
		read := 0
		for {
			batch, err := s.DeadLetters(context.Background(), topic, cursor, 1000)
			k.must(err)
			read += len(batch.Letters)
			if cursor = batch.Next; !batch.More {
				break
			}
		}
		if read != n {
			b.Fatal(errors.New("letters are missing"), read)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "letters/s")
}
