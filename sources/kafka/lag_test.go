package kafka_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/kafka"
)

func TestC18CommitsAreReadBeforeEnds(t *testing.T) {
	b := start(t, kfake.NumBrokers(3))
	topic := b.topic("orders", 6, nil)
	for p := range int32(6) {
		b.fill(topic, p, 3)
		b.commit("g", topic, p, 1)
	}
	var mu sync.Mutex
	var keys []int16
	b.watch(func(r kmsg.Request) {
		mu.Lock()
		defer mu.Unlock()
		keys = append(keys, r.Key())
	})
	b.groups(b.source())
	first, last := slices.Index(keys, kmsg.ListOffsets.Int16()), len(keys)-1
	for last >= 0 && keys[last] != kmsg.OffsetFetch.Int16() {
		last--
	}
	if last < 0 || first < 0 || last > first {
		t.Errorf("requests in this order: %v", keys)
	}
}

// The lag loop notes in a reading what it found at the heads, while a plan or a
// follower looks at the same reading.
func TestAReadingIsItsCallersOwn(t *testing.T) {
	b := start(t)
	topic := b.topic("orders", 1, nil)
	b.fill(topic, 0, 4)
	b.commit("g", topic, 0, 1)
	source := b.source()
	group := b.groups(source)["g"]
	group.Lines[0].Position = 4
	passed, err := source.Passed(t.Context(), topic)
	b.must(err)
	if passed.Below[0] != 1 {
		t.Errorf("what a caller wrote into its reading is read by others: %+v", passed)
	}
}

func TestC31APartitionWithoutALeaderHidesNothing(t *testing.T) {
	b := start(t)
	topic := b.topic("orders", 3, nil)
	other := b.topic("payments", 1, nil)
	for p := range int32(3) {
		b.fill(topic, p, 5)
		b.commit("g", topic, p, 2)
	}
	b.fill(other, 0, 4)
	b.commit("h", other, 0, 1)
	whole, err := kmsg.NewPtrMetadataRequest().RequestWith(t.Context(), b.client)
	b.must(err)
	b.answer(kmsg.Metadata, func(r kmsg.Request) kmsg.Response {
		resp := *whole
		resp.SetVersion(r.GetVersion())
		resp.Topics = slices.Clone(whole.Topics)
		for i := range resp.Topics {
			resp.Topics[i].Partitions = slices.Clone(resp.Topics[i].Partitions)
			for j, p := range resp.Topics[i].Partitions {
				if *resp.Topics[i].Topic == topic && p.Partition == 2 {
					resp.Topics[i].Partitions[j].Leader = -1
					resp.Topics[i].Partitions[j].ErrorCode = kerr.LeaderNotAvailable.Code
				}
			}
		}
		return &resp
	})
	began := time.Now()
	groups := b.groups(b.source())
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %s", took)
	}
	for p := range int32(3) {
		l, there := lineOf(groups["g"], topic, p)
		switch {
		case !there:
			t.Errorf("partition %d is not listed", p)
		case p == 2 && (!errors.Is(l.Err, kafka.ErrNoLeader) || l.End != sources.NotKnown || l.Position != 2):
			t.Errorf("the one without a leader: %+v", l)
		case p != 2 && (l.Err != nil || l.End != 5):
			t.Errorf("partition %d: %+v", p, l)
		}
	}
	if l, _ := lineOf(groups["h"], other, 0); l.Err != nil || l.End != 4 {
		t.Errorf("another topic: %+v", l)
	}
}

func TestAPartitionThatCannotBeReadHidesNoOther(t *testing.T) {
	b := start(t)
	topic := b.topic("orders", 2, nil)
	b.commit("g", topic, 0, 0)
	b.commit("g", topic, 1, 0)
	b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Topic: topic, Partitions: []int32{1}, Err: kerr.TopicAuthorizationFailed, Count: -1})
	g := b.groups(b.source())["g"]
	if l, _ := lineOf(g, topic, 0); l.Err != nil {
		t.Error(l.Err)
	}
	if l, _ := lineOf(g, topic, 1); !errors.Is(l.Err, sources.ErrNotAuthorised) {
		t.Errorf("%+v", l)
	}
}

func TestC43ALoadingCoordinatorIsNoMissingCommit(t *testing.T) {
	b := start(t)
	topic := b.topic("orders", 1, nil)
	b.fill(topic, 0, 9)
	b.commit("g", topic, 0, 7)
	b.commit("h", topic, 0, 3)
	s := b.source()
	b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}, Group: "g", Err: kerr.CoordinatorLoadInProgress})
	groups := b.groups(s)
	if g := groups["g"]; g.Err == nil || len(g.Lines) != 0 {
		t.Errorf("while it loads: %+v", g)
	}
	if l, _ := lineOf(groups["h"], topic, 0); l.Position != 3 || groups["h"].Err != nil {
		t.Errorf("the other group: %+v", groups["h"])
	}
	if l, _ := lineOf(b.groups(s)["g"], topic, 0); l.Position != 7 {
		t.Errorf("afterwards: %+v", l)
	}
}

func TestAForbiddenGroupIsListedWithItsError(t *testing.T) {
	b := start(t)
	topic := b.topic("orders", 1, nil)
	b.commit("g", topic, 0, 0)
	b.commit("h", topic, 0, 0)
	b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}, Group: "g", Err: kerr.GroupAuthorizationFailed, Count: -1})
	groups := b.groups(b.source())
	if !errors.Is(groups["g"].Err, sources.ErrNotAuthorised) || groups["h"].Err != nil {
		t.Errorf("%+v", groups)
	}
}

func TestABrokerThatIsSilentHidesOnlyItsGroups(t *testing.T) {
	b := start(t, kfake.NumBrokers(3))
	topic := b.topic("orders", 3, nil)
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}
	for _, g := range names {
		b.commit(g, topic, 0, 0)
	}
	s := b.source()
	if got := b.groups(s); len(got) != len(names) {
		t.Fatalf("%d groups", len(got))
	}
	const silent = 1
	b.silent(silent, kmsg.ListGroups)
	began := time.Now()
	got := b.groups(s)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
	hidden := 0
	for _, name := range names {
		g, there := got[name]
		at := b.CoordinatorFor(name) == silent
		if !there || (g.Err != nil) != at || at && !errors.Is(g.Err, kafka.ErrTimeout) {
			t.Errorf("group %s at broker %d: %+v", name, b.CoordinatorFor(name), g)
		}
		if at {
			hidden++
		}
	}
	if hidden == 0 {
		t.Error("the silent broker coordinates no group: the test shows nothing")
	}
}

func TestAMovedCoordinatorLosesNoGroup(t *testing.T) {
	b := start(t, kfake.NumBrokers(3))
	topic := b.topic("orders", 1, nil)
	for _, g := range []string{"a", "b", "c", "d"} {
		b.commit(g, topic, 0, 0)
	}
	s := b.source()
	b.groups(s)
	for range 5 {
		b.RehashCoordinators()
		got := b.groups(s)
		for _, g := range []string{"a", "b", "c", "d"} {
			if l, there := lineOf(got[g], topic, 0); !there || l.Position != 0 || got[g].Err != nil {
				t.Fatalf("group %s: %+v", g, got[g])
			}
		}
	}
}

func TestC28WithoutTypesADeadAnswerIsNotDeath(t *testing.T) {
	b := start(t)
	topic := b.topic("orders", 1, nil)
	b.commit("g", topic, 0, 0)
	b.answer(kmsg.ListGroups, func(r kmsg.Request) kmsg.Response {
		resp := kmsg.NewPtrListGroupsResponse()
		resp.SetVersion(r.GetVersion())
		g := kmsg.NewListGroupsResponseGroup()
		g.Group, g.ProtocolType = "g", "consumer" // neither state nor type, as before KIP-518 and KIP-848
		resp.Groups = append(resp.Groups, g)
		return resp
	})
	b.answer(kmsg.DescribeGroups, func(r kmsg.Request) kmsg.Response {
		resp := kmsg.NewPtrDescribeGroupsResponse()
		resp.SetVersion(r.GetVersion())
		g := kmsg.NewDescribeGroupsResponseGroup()
		g.Group, g.State = "g", "Dead"
		resp.Groups = append(resp.Groups, g)
		return resp
	})
	g := b.groups(b.source())["g"]
	if g.State == "Dead" || g.MembersKnown || g.Err != nil || len(g.Lines) != 1 {
		t.Errorf("%+v", g)
	}
}

func TestOlderBrokers(t *testing.T) {
	for name, v := range map[string]*kversion.Versions{"2.8": kversion.V2_8_0(), "3.6": kversion.V3_6_0(), "4.0": kversion.V4_0_0()} {
		t.Run(name, func(t *testing.T) {
			b := start(t, kfake.MaxVersions(v))
			topic := b.topic("orders", 1, nil)
			dead := b.topic("orders.dlq", 1, nil)
			b.fill(topic, 0, 5)
			b.fill(dead, 0, 2)
			b.commit("g", topic, 0, 2)
			b.commit("h", topic, 0, 3)
			s := b.source()
			groups := b.groups(s)
			for group, at := range map[string]int64{"g": 2, "h": 3} {
				if l, _ := lineOf(groups[group], topic, 0); l.Position != at || l.End != 5 || groups[group].State != "Empty" {
					t.Errorf("%s: %+v", group, groups[group])
				}
			}
			if batch, err := s.DeadLetters(t.Context(), dead, nil, 10); err != nil || len(batch.Letters) != 2 {
				t.Errorf("%+v, %v", batch, err)
			}
			shipments, refused, err := s.Pack(t.Context(), []sources.Parcel{{Item: "1", Target: sources.Target{Queue: topic}, Body: []byte("x")}})
			if err != nil || len(shipments) != 1 {
				t.Fatalf("%+v %v %v", shipments, refused, err)
			}
			for range 2 {
				if r, err := s.Ship(t.Context(), shipments[0]); err != nil || r[0].Err != nil || r[0].Offset != 5 {
					t.Errorf("%+v, %v", r, err)
				}
			}
		})
	}
}

func TestC118ASourceThatCannotBeReachedSaysWhy(t *testing.T) {
	b := start(t)
	b.silent(0, kmsg.ApiVersions)
	for name, c := range map[string]struct {
		address string
		want    error
		says    string
	}{
		"nobody listens": {"127.0.0.1:1", nil, "127.0.0.1:1"},
		"a black hole":   {b.ListenAddrs()[0], kafka.ErrTimeout, b.ListenAddrs()[0]},
	} {
		t.Run(name, func(t *testing.T) {
			s := b.source(func(k *kafka.Config) { k.Brokers = []string{c.address} })
			began := time.Now()
			_, err := s.Lag(t.Context())
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("took %s", took)
			}
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !containsText(err, c.says) {
				t.Errorf("%v", err)
			}
			if _, err := s.Changed(t.Context(), []string{"x.dlq"}); err == nil {
				t.Error("Changed has no error")
			}
			if all := s.Check(t.Context()); len(all) != 1 || all[0].Outcome == sources.Confirmed {
				t.Errorf("Check says %+v", all)
			}
		})
	}
}

func TestItGoesOnAfterABrokerWasRestarted(t *testing.T) {
	dir, port := t.TempDir(), freePort(t)
	opts := []kfake.Opt{kfake.Ports(port), kfake.DataDir(dir)}
	c, err := kfake.NewCluster(opts...)
	if err != nil {
		t.Fatal(err)
	}
	b := on(t, c)
	topic := b.topic("orders.dlq", 1, nil)
	b.fill(topic, 0, 3)
	b.commit("g", topic, 0, 1)
	s := b.source()
	b.groups(s)
	first, err := s.DeadLetters(t.Context(), topic, nil, 10)
	b.must(err)
	c.Close()
	if _, err := s.Lag(t.Context()); err == nil {
		t.Error("no error while it is down")
	}
	c, err = kfake.NewCluster(opts...)
	b.must(err)
	t.Cleanup(c.Close)
	if l, _ := lineOf(b.groups(s)["g"], topic, 0); l.Position != 1 || l.End != 3 {
		t.Errorf("%+v", l)
	}
	if again, err := s.DeadLetters(t.Context(), topic, first.Next, 10); err != nil || len(again.Letters) != 0 {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestHeadsOfManyLinesAreOneRequest(t *testing.T) {
	b := start(t)
	topic := b.topic("orders", 20, nil)
	var lines []sources.Lag
	for p := range int32(20) {
		b.fill(topic, p, 3)
		b.commit("g", topic, p, int64(p%4)) // every fourth is at the end
	}
	s := b.source()
	lines = b.groups(s)["g"].Lines
	fetches := 0
	b.watch(func(r kmsg.Request) {
		if r.Key() == kmsg.Fetch.Int16() {
			fetches++
		}
	})
	heads, err := s.Heads(context.Background(), lines)
	b.must(err)
	for _, l := range lines {
		want := sources.HeadRecord
		if l.Position == 3 {
			want = sources.HeadNone
		}
		if h := heads[l.Partition]; h.Head != want || want == sources.HeadRecord && h.Offset != l.Position {
			t.Errorf("line %d at %d: %+v", l.Number, l.Position, h)
		}
	}
	if fetches != 1 {
		t.Errorf("%d fetches", fetches)
	}
}
