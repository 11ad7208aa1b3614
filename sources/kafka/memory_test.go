package kafka

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestMemoryDoesNotGrow: groups and topics come and go, and nothing is kept of
// those that went.
func TestMemoryDoesNotGrow(t *testing.T) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	must(t, err)
	t.Cleanup(c.Close)
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	must(t, err)
	t.Cleanup(client.Close)
	s, err := New(Config{Name: "k", Brokers: c.ListenAddrs()})
	must(t, err)
	t.Cleanup(s.Close)
	for i := range 30 {
		topic, group := fmt.Sprintf("topic-%d.dlq", i), fmt.Sprintf("group-%d", i)
		oneRound(t, s, c, kadm.NewClient(client), topic, group)
	}
	for range 2 { // a group that is gone is kept for one reading more
		_, err = s.Lag(t.Context())
		must(t, err)
	}
	_, err = s.Queues(t.Context())
	must(t, err)
	for what, n := range map[string]int{
		"groups": len(s.before.known), "share groups": len(s.before.shares), "tails": len(s.tails.seen),
		"cursors": len(s.letters.queues), "absent topics": len(s.absent.errs), "the last reading": len(s.last),
	} {
		if n > 1 {
			t.Errorf("%d %s are remembered", n, what)
		}
	}
}

// oneRound makes a topic and two groups, has everything looked at, and deletes
// them.
func oneRound(t *testing.T, s *Source, c *kfake.Cluster, admin *kadm.Client, topic, group string) {
	t.Helper()
	must(t, c.CreateTopic(topic, 2, nil))
	var o kadm.Offsets
	o.Add(kadm.Offset{Topic: topic, At: 0, LeaderEpoch: -1})
	must(t, admin.CommitAllOffsets(t.Context(), group, o))
	beat := kmsg.NewPtrShareGroupHeartbeatRequest()
	beat.GroupID, beat.MemberID, beat.SubscribedTopicNames = "share-"+group, "m", []string{topic}
	_, err := beat.RequestWith(t.Context(), s.client)
	must(t, err)
	groups, err := s.Lag(t.Context())
	must(t, err)
	for _, g := range groups {
		_, _ = s.Heads(t.Context(), g.Lines)
	}
	_, err = s.DeadLetters(t.Context(), topic, nil, 10)
	must(t, err)
	_, err = s.Changed(t.Context(), []string{topic})
	must(t, err)
	beat.MemberEpoch = -1 // leaves
	_, err = beat.RequestWith(t.Context(), s.client)
	must(t, err)
	_, _ = admin.DeleteGroups(t.Context(), group, "share-"+group)
	must(t, c.DeleteTopic(topic))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
