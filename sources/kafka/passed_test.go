package kafka_test

import (
	"maps"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestC43WhatAGroupHasPassedIsUnknownWhileItCannotBeRead: without the group that
// lags, the others would make a record consumed that it has not come to.
func TestC43WhatAGroupHasPassedIsUnknownWhileItCannotBeRead(t *testing.T) {
	b := start(t)
	topic := b.topic("orders", 1, nil)
	b.fill(topic, 0, 9)
	b.commit("fast", topic, 0, 9)
	b.commit("slow", topic, 0, 3)
	s := b.source()
	b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}, Group: "slow", Err: kerr.CoordinatorLoadInProgress})
	b.groups(s)
	if p, err := s.Passed(t.Context(), topic); err == nil {
		t.Errorf("while it cannot be read: %+v", p)
	}
	b.groups(s)
	if p, err := s.Passed(t.Context(), topic); err != nil || !maps.Equal(p.Below, map[int32]int64{0: 3}) {
		t.Errorf("afterwards: %+v, %v", p, err)
	}
}

func TestAForbiddenGroupHoldsNothingBack(t *testing.T) {
	b := start(t)
	topic := b.topic("orders", 1, nil)
	b.fill(topic, 0, 9)
	b.commit("mine", topic, 0, 5)
	b.commit("theirs", topic, 0, 0)
	b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}, Group: "theirs", Err: kerr.GroupAuthorizationFailed, Count: -1})
	s := b.source()
	b.groups(s)
	if p, err := s.Passed(t.Context(), topic); err != nil || !maps.Equal(p.Below, map[int32]int64{0: 5}) {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestWhatHasPassedCostsNoRequest rests on the last reading.
func TestWhatHasPassedCostsNoRequest(t *testing.T) {
	b := start(t)
	topic := b.topic("orders", 1, nil)
	b.fill(topic, 0, 9)
	b.commit("g", topic, 0, 5)
	s := b.source()
	b.groups(s)
	b.watch(func(r kmsg.Request) {
		if telemetry := r.Key() == kmsg.GetTelemetrySubscriptions.Int16() || r.Key() == kmsg.PushTelemetry.Int16(); !telemetry {
			t.Errorf("request %s", kmsg.NameForKey(r.Key()))
		}
	})
	if p, err := s.Passed(t.Context(), topic); err != nil || p.Below[0] != 5 {
		t.Errorf("%+v, %v", p, err)
	}
}
