package sourcetest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/kafka"
)

// KafkaSuite is what the Kafka adapter does on every Kafka: it runs against
// kfake and against Apache Kafka. Its tests share a server, and name their
// topics and groups apart.
func KafkaSuite(t *testing.T, b KafkaBench) {
	for name, test := range map[string]func(*kafkaTest){
		"ClassicGroup":              testClassicGroup,
		"C28NewProtocolGroup":       testNewProtocolGroup,
		"C27SimilarNames":           testSimilarNames,
		"C20AssignedWithoutCommit":  testAssignedWithoutCommit,
		"C19PurgedRecords":          testPurgedRecords,
		"C16MarkersAreNotLag":       testMarkers,
		"AbortedTailHasNoHead":      testAbortedTail,
		"OpenTransactionHasNoHead":  testOpenTransaction,
		"CompactionHoles":           testCompactionHoles,
		"C29ShareGroup":             testShareGroup,
		"C122ComingAndGoing":        testComingAndGoing,
		"AskingCreatesNoTopic":      testAskingCreatesNoTopic,
		"Records":                   testRecords,
		"LettersAreExact":           testLettersAreExact,
		"C77LettersOfTransactions":  testLettersOfTransactions,
		"LettersInBatches":          testLettersInBatches,
		"LettersFromAnAge":          testLettersFromAnAge,
		"LettersFromNow":            testLettersFromNow,
		"C102LettersPastRetention":  testLettersPastRetention,
		"LettersOfARecreatedTopic":  testLettersOfARecreatedTopic,
		"LettersOfAnAddedPartition": testLettersOfAnAddedPartition,
		"LargeLetter":               testLargeLetter,
		"ChangedTellsNews":          testChanged,
		"Queues":                    testQueues,
		"SentBytesAreExact":         testSentBytes,
		"SentTwiceIsAppendedOnce":   testSentTwice,
		"UnsentShipmentBlocksNone":  testUnsentShipment,
		"ForgottenBatchIsFound":     testForgottenBatch,
		"C73KeptTimestamps":         testKeptTimestamps,
		"C74CompactedNeedsAKey":     testCompactedTarget,
		"TooLarge":                  testTooLarge,
		"TargetMadeAgain":           testTargetMadeAgain,
		"Receivers":                 testReceivers,
		"Passed":                    testPassed,
		"PassedByAShareGroup":       testPassedByShareGroup,
		"MoveClassicGroup":          testMoveClassicGroup,
		"MoveNewProtocolGroup":      testMoveNewProtocolGroup,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(b.test(t))
		})
	}
}

func testClassicGroup(k *kafkaTest) {
	topic := k.topic("orders", 2, nil)
	k.fill(topic, 0, 5)
	k.fill(topic, 1, 3)
	group := k.prefix + "g"
	k.commit(group, topic, 0, 2)
	k.commit(group, topic, 1, 3)
	s := k.source()

	g := k.group(s, group)
	if g.State != "Empty" || g.Protocol != sources.Classic || !g.MembersKnown || len(g.Members) != 0 || g.Err != nil {
		k.Errorf("an empty group: %+v", g)
	}
	l := k.line(g, topic, 0)
	if l.Position != 2 || l.Start != 0 || l.End != 5 || l.StableEnd != 5 || l.Owner != "" || l.TopicID == "" || l.Err != nil {
		k.Errorf("line 0: %+v", l)
	}
	client := k.consume(group, topic)
	k.until("the member owns both lines", func() error {
		g = k.group(s, group)
		if len(g.Lines) != 2 || g.Lines[0].Owner == "" || g.Lines[0].Owner != g.Lines[1].Owner {
			return fmt.Errorf("%+v", g)
		}
		return nil
	})
	if g.State != "Stable" || len(g.Members) != 1 || g.Members[0].ClientID != "worker" || g.Members[0].ID != g.Lines[0].Owner || g.Members[0].Host == "" {
		k.Errorf("a group with a member: %+v", g)
	}
	client.Close()
}

func testNewProtocolGroup(k *kafkaTest) {
	topic := k.topic("orders", 3, nil)
	k.fill(topic, 1, 4)
	group := k.prefix + "g"
	client := k.consume(group, topic, kgo.ServerSideBalancer())
	s := k.source()
	var g sources.Group
	k.until("the member owns three lines", func() error {
		var err error
		if g, err = find(k.Context(), s, group); err != nil {
			return err
		}
		if len(g.Lines) != 3 || g.Lines[2].Owner == "" || g.State != "Stable" {
			return fmt.Errorf("%+v", g)
		}
		return nil
	})
	if g.Protocol != sources.Consumer || g.State != "Stable" || len(g.Members) != 1 || !g.MembersKnown || g.Err != nil {
		k.Errorf("%+v", g)
	}
	if l := k.line(g, topic, 1); l.Position != sources.NoCommit || l.End != 4 {
		k.Errorf("%+v", l)
	}
	client.Close()
	k.until("it is empty", func() error {
		if g = k.group(s, group); g.State != "Empty" || len(g.Members) != 0 {
			return fmt.Errorf("%+v", g)
		}
		return nil
	})
}

func testSimilarNames(k *kafkaTest) {
	topic := k.topic("orders", 1, nil)
	k.fill(topic, 0, 9)
	want := map[string]int64{"push_q": 1, "test-push_q": 2, "a.b": 3, "a_b": 4, "__proto__": 5, "a/b%2F": 6}
	for name, at := range want {
		k.commit(k.prefix+name, topic, 0, at)
	}
	s := k.source()
	for name, at := range want {
		if l := k.line(k.group(s, k.prefix+name), topic, 0); l.Position != at {
			k.Errorf("group %s stands at %d, want %d", name, l.Position, at)
		}
	}
}

func testAssignedWithoutCommit(k *kafkaTest) {
	topic := k.topic("orders", 2, nil)
	k.fill(topic, 0, 4)
	group := k.prefix + "g"
	k.commit(group, topic, 1, 0)
	k.consume(group, topic)
	s := k.source()
	var g sources.Group
	k.until("it owns both", func() error {
		if g = k.group(s, group); len(g.Lines) != 2 || g.Lines[0].Owner == "" {
			return fmt.Errorf("%+v", g)
		}
		return nil
	})
	if p0, p1 := k.line(g, topic, 0), k.line(g, topic, 1); p0.Position != sources.NoCommit || p0.End != 4 || p1.Position != 0 {
		k.Errorf("%+v %+v", p0, p1)
	}
}

func testPurgedRecords(k *kafkaTest) {
	topic := k.topic("orders", 1, nil)
	k.fill(topic, 0, 9)
	group := k.prefix + "g"
	k.commit(group, topic, 0, 2)
	k.cut(topic, 0, 7)
	s := k.source()
	if l := k.line(k.group(s, group), topic, 0); l.Position != 2 || l.Start != 7 || l.End != 9 {
		k.Errorf("%+v", l)
	}
}

// head looks at one line of the group at a position.
func (k *kafkaTest) head(s *kafka.Source, topic string, position int64) sources.HeadLook {
	k.Helper()
	group := fmt.Sprintf("%shead-%d", k.prefix, position)
	k.commit(group, topic, 0, position)
	line := k.line(k.group(s, group), topic, 0)
	heads, err := s.Heads(k.Context(), []sources.Lag{line})
	k.must(err)
	again, err := s.Heads(k.Context(), []sources.Lag{line})
	if err != nil || !reflect.DeepEqual(heads, again) {
		k.Errorf("a second look at %d: %+v, then %+v, %v", position, heads, again, err)
	}
	return heads[line.Partition]
}

func testMarkers(k *kafkaTest) {
	topic := k.topic("orders", 1, nil)
	k.transaction(topic, 10, &tryCommit)
	s := k.source()
	k.until("the marker is written", func() error {
		if h := k.head(s, topic, 10); h.Head != sources.HeadNone {
			return fmt.Errorf("the head at the marker: %+v", h)
		}
		return nil
	})
	if l := k.line(k.group(s, k.prefix+"head-10"), topic, 0); l.End != 11 || l.StableEnd != 11 {
		k.Errorf("%+v", l)
	}
	if h := k.head(s, topic, 9); h.Head != sources.HeadRecord || h.Offset != 9 || time.Since(h.Timestamp) > time.Hour {
		k.Errorf("the head at the last record: %+v", h)
	}
	k.fill(topic, 0, 1)
	if h := k.head(s, topic, 10); h.Head != sources.HeadRecord || h.Offset != 11 {
		k.Errorf("the head past the marker: %+v", h)
	}
}

func testAbortedTail(k *kafkaTest) {
	topic := k.topic("orders", 1, nil)
	k.fill(topic, 0, 3)
	k.transaction(topic, 5, &tryAbort)
	s := k.source()
	k.until("the aborted tail is no head", func() error {
		if h := k.head(s, topic, 3); h.Head != sources.HeadNone {
			return fmt.Errorf("%+v", h)
		}
		return nil
	})
	k.fill(topic, 0, 1)
	if h := k.head(s, topic, 3); h.Head != sources.HeadRecord || h.Offset != 9 {
		k.Errorf("behind the aborted tail: %+v", h)
	}
}

func testOpenTransaction(k *kafkaTest) {
	topic := k.topic("orders", 1, nil)
	k.fill(topic, 0, 3)
	k.transaction(topic, 2, nil)
	k.fill(topic, 0, 4)
	s := k.source()
	if h := k.head(s, topic, 3); h.Head != sources.HeadNone {
		k.Errorf("%+v", h)
	}
	if l := k.line(k.group(s, k.prefix+"head-3"), topic, 0); l.StableEnd != 3 || l.End != 9 {
		k.Errorf("%+v", l)
	}
	if h := k.head(s, topic, 6); h.Head != sources.HeadRecord || h.Offset != 6 { // a group that reads uncommitted
		k.Errorf("past the stable end: %+v", h)
	}
}

func testCompactionHoles(k *kafkaTest) {
	topic := k.topic("orders", 1, map[string]string{
		"cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.001", "max.compaction.lag.ms": "100",
	})
	for range 5 {
		k.produce(&kgo.Record{Topic: topic, Key: []byte("k"), Value: []byte("v")})
	}
	s := k.source()
	n := 0
	k.until("records are compacted away", func() error {
		n++
		k.produce(&kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "other-%d", n), Value: []byte("rolls the segment")})
		if k.Compact != nil {
			k.Compact()
		}
		got, err := s.Records(k.Context(), topic, 0, 0, 5, 10)
		if err == nil && len(got) > 1 {
			err = fmt.Errorf("%d of 5 left", len(got))
		}
		return err
	})
	if h := k.head(s, topic, 0); h.Head != sources.HeadRecord || h.Offset < 4 {
		k.Errorf("the head at a hole: %+v", h)
	}
}

func testShareGroup(k *kafkaTest) {
	topic := k.topic("orders", 1, nil)
	k.fill(topic, 0, 6)
	group := k.prefix + "sg"
	k.must(k.groupConfig(group, map[string]string{"share.auto.offset.reset": "earliest"}))
	client := k.connect(kgo.ConsumeTopics(topic), kgo.ShareGroup(group), kgo.ClientID("worker"), kgo.ShareMaxRecords(2), kgo.ShareMaxRecordsStrict())
	k.until("two records are accepted", func() error {
		fetches := client.PollFetches(k.Context())
		if fetches.NumRecords() == 0 {
			return errors.New("none came")
		}
		fetches.EachRecord(func(r *kgo.Record) { r.Ack(kgo.AckAccept) })
		return client.FlushAcks(k.Context())
	})
	s := k.source()
	k.until("the share group is listed with lag", func() error {
		g, err := find(k.Context(), s, group)
		if err != nil {
			return err
		}
		if g.Protocol != sources.Share || g.State != "Stable" || len(g.Members) != 1 || len(g.Lines) != 1 || g.Err != nil || g.Lines[0].Counted == nil {
			return fmt.Errorf("%+v", g)
		}
		// What was accepted is counted out at once; a broker may move the position later.
		if l := g.Lines[0]; l.Position > 2 || *l.Counted != 4 || l.End != 6 || l.Owner == "" {
			return fmt.Errorf("%+v, lag by the broker %d", l, *l.Counted)
		}
		return nil
	})
	k.shareFindings(s, group)
}

// shareFindings: without a dead-letter topic there is a finding, with one there
// is none. kfake knows no dead-letter topics of share groups.
func (k *kafkaTest) shareFindings(s *kafka.Source, group string) {
	k.Helper()
	findings, err := s.Findings(k.Context())
	k.must(err)
	if n := countFindings(findings, "share_group_without_dead_letter_topic", group); n != 1 {
		k.Errorf("%d findings for a share group without a dead-letter topic: %+v", n, findings)
	}
	if !k.Real {
		return
	}
	letters := k.topic("given-up", 1, map[string]string{"errors.deadletterqueue.group.enable": "true"})
	k.must(k.groupConfig(group, map[string]string{"errors.deadletterqueue.topic.name": letters}))
	fresh := k.source()
	findings, err = fresh.Findings(k.Context())
	k.must(err)
	if n := countFindings(findings, "share_group_without_dead_letter_topic", group); n != 0 {
		k.Errorf("a finding for a share group with a dead-letter topic: %+v", findings)
	}
	queues, err := fresh.Queues(k.Context())
	k.must(err)
	for _, q := range queues {
		if q.Name == letters && q.Kind == sources.DeadLetterQueue && len(q.FeedsFrom) == 1 {
			return
		}
	}
	k.Errorf("%s is no dead-letter queue: %+v", letters, queues)
}

func countFindings(all []sources.Finding, kind, group string) int {
	n := 0
	for _, f := range all {
		if f.Kind == kind && strings.HasSuffix(f.ID, group) {
			n++
		}
	}
	return n
}

func testComingAndGoing(k *kafkaTest) {
	topic := k.topic("orders", 1, nil)
	k.fill(topic, 0, 3)
	k.commit(k.prefix+"old", topic, 0, 1)
	s := k.source()
	k.group(s, k.prefix+"old")

	added := k.topic("payments", 1, nil)
	k.fill(added, 0, 2)
	k.commit(k.prefix+"old", added, 0, 0)
	k.commit(k.prefix+"new", topic, 0, 2)
	if g := k.group(s, k.prefix+"old"); len(g.Lines) != 2 || k.line(g, added, 0).End != 2 {
		k.Errorf("a topic that came is not there: %+v", g)
	}
	k.group(s, k.prefix+"new")

	_, err := k.admin.DeleteGroup(k.Context(), k.prefix+"new")
	k.must(err)
	k.deleteTopic(added)
	k.until("what is deleted is gone", func() error {
		if _, err := find(k.Context(), s, k.prefix+"new"); err == nil {
			return errors.New("the deleted group is listed")
		}
		if g := k.group(s, k.prefix+"old"); len(g.Lines) != 1 || g.Err != nil {
			return fmt.Errorf("%+v", g)
		}
		return nil
	})
}

func testAskingCreatesNoTopic(k *kafkaTest) {
	s, name := k.source(), k.prefix+"nothing.dlq"
	if _, err := s.DeadLetters(k.Context(), name, nil, 10); !errors.Is(err, sources.ErrNoSuchQueue) {
		k.Errorf("letters of a topic that is not there: %v", err)
	}
	if _, _, err := s.Aim(k.Context(), name, sources.DeadLetter{}); !errors.Is(err, sources.ErrNoSuchQueue) {
		k.Errorf("aim at a topic that is not there: %v", err)
	}
	if _, err := s.Records(k.Context(), name, 0, 0, 10, 10); !errors.Is(err, sources.ErrNoSuchQueue) {
		k.Errorf("records of a topic that is not there: %v", err)
	}
	topics, err := k.admin.ListTopics(k.Context())
	k.must(err)
	if topics.Has(name) {
		k.Error("asking made the topic")
	}
}

func testRecords(k *kafkaTest) {
	topic := k.topic("orders", 1, nil)
	k.fill(topic, 0, 10)
	k.transaction(topic, 5, &tryAbort) // 10 to 15
	k.fill(topic, 0, 10)               // 16 to 25
	k.cut(topic, 0, 2)
	s := k.source()
	var got []sources.Record
	k.until("the abort is written", func() (err error) {
		if got, err = s.Records(k.Context(), topic, 0, 0, 20, 100); err == nil && len(got) != 12 {
			err = fmt.Errorf("%d records", len(got))
		}
		return err
	})
	if got[0].Offset != 2 || string(got[0].Body) != "2" || got[8].Offset != 16 || got[11].Offset != 19 {
		k.Errorf("%+v", got)
	}
	if got, err := s.Records(k.Context(), topic, 0, 5, 26, 3); err != nil || len(got) != 3 || got[2].Offset != 7 {
		k.Errorf("at most three: %+v, %v", got, err)
	}
	if got, err := s.Records(k.Context(), topic, 0, 26, 99, 3); err != nil || len(got) != 0 {
		k.Errorf("past the end: %+v, %v", got, err)
	}
}

func sameBytes(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }
