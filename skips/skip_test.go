package skips

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

func TestItWaitsForTheGroupToBeEmptyThenParksThenMoves(t *testing.T) {
	y := newYard()
	s := y.arm(t, head())
	if s.State != Armed || !strings.Contains(s.WaitsFor, "retry-0") || s.To != 101 {
		t.Fatalf("%+v", s)
	}
	if s, err := y.at(t, s.ID, time.Minute); err != nil || s.State != Armed || len(y.parked)+len(y.commits) > 0 {
		t.Fatalf("with members: %v %s, %d parked, moved %v", err, s.State, len(y.parked), y.commits)
	}
	y.members = nil
	y.onCommit = func() error {
		if len(y.parked) != 1 {
			t.Error("the position is moved before the record is parked")
		}
		return nil
	}
	s, err := y.at(t, s.ID, 2*time.Minute)
	if err != nil || s.State != Done || !slices.Equal(y.commits, []int64{101}) || !s.Parked[0].Copied() {
		t.Fatalf("%v %+v, moved %v", err, s, y.commits)
	}
	if want := []string{"skip.arm", "skip.park", "skip.move"}; !slices.Equal(y.deeds, want) {
		t.Errorf("the audit has %v, want %v", y.deeds, want)
	}
}

func TestTheCopyHasTheExactBytesAndSaysWhereItCameFrom(t *testing.T) {
	y := newYard()
	y.members = nil
	s := y.arm(t, head())
	if _, err := y.at(t, s.ID, 0); err != nil {
		t.Fatal(err)
	}
	got, want := y.parked[0], y.log[0]
	if !same(sources.Record{Key: got.Key, Body: got.Body, Headers: got.Headers[:2]}, want.Key, want.Body, want.Headers) {
		t.Errorf("%+v, want %+v", got, want)
	}
	origin := map[string]string{}
	for _, h := range got.Headers[2:] {
		origin[h.Name] = string(h.Value)
	}
	for name, want := range map[string]string{HeaderTopic: line.Topic, HeaderPartition: "3", HeaderOffset: "100", HeaderGroup: "retry", HeaderTimestamp: "1788988924000"} {
		if origin[name] != want {
			t.Errorf("%s is %q, want %q", name, origin[name], want)
		}
	}
}

// A crash is a save that is never made: what follows it is not done, and the
// next life goes on from what was written.
func TestAfterACrashAtAnyStepThereIsOneCopyAndOneMove(t *testing.T) {
	for n := 1; n <= 5; n++ {
		y := newYard()
		y.members = nil
		s := y.arm(t, head())
		y.full = n
		_, err := y.at(t, s.ID, 0)
		if y.full == 0 || y.full > 0 { // it came to its end with saves to spare
			if err != nil || len(y.parked) != 1 {
				t.Fatalf("save %d: %v, %d copies", n, err, len(y.parked))
			}
			continue
		}
		y.full = 0
		s, err = y.at(t, s.ID, time.Minute)
		if err != nil || s.State != Done || len(y.parked) != 1 || y.position != 101 {
			t.Errorf("killed at save %d: %v, %s, %d copies, at %d", n, err, s.State, len(y.parked), y.position)
		}
	}
}

func TestACopyWhoseAnswerWasLostIsSentAgainAsItWas(t *testing.T) {
	y := newYard()
	y.members = nil
	y.shipErr = errors.New("connection reset")
	s := y.arm(t, head())
	if s, err := y.at(t, s.ID, 0); err == nil || s.State != Armed || len(y.commits) > 0 {
		t.Fatalf("%v %s, moved %v", err, s.State, y.commits)
	}
	if s, err := y.at(t, s.ID, time.Minute); err != nil || s.State != Done || len(y.parked) != 1 {
		t.Errorf("%v %s, %d copies", err, s.State, len(y.parked))
	}
}

func TestMembersThatComeBackBeforeTheMoveAreWaitedForWithoutASecondCopy(t *testing.T) {
	y := newYard()
	y.members = nil
	s := y.arm(t, head())
	y.onShip = func() { y.members = []sources.Member{{ID: "m-2", ClientID: "retry-9"}} }
	if s, err := y.at(t, s.ID, 0); err != nil || s.State != Armed || len(y.commits) > 0 {
		t.Fatalf("%v %s, moved %v", err, s.State, y.commits)
	}
	y.members, y.onShip = nil, nil
	if s, err := y.at(t, s.ID, time.Minute); err != nil || s.State != Done || len(y.parked) != 1 {
		t.Errorf("%v %s, %d copies", err, s.State, len(y.parked))
	}
}

// The broker has the last word: between our look and our commit somebody may
// have joined.
func TestACommitThatTheBrokerRefusesLeavesItArmed(t *testing.T) {
	y := newYard()
	y.members = nil
	s := y.arm(t, head())
	y.onCommit = func() error { return sources.ErrHasMembers }
	if s, err := y.at(t, s.ID, 0); err != nil || s.State != Armed {
		t.Fatalf("%v %s", err, s.State)
	}
	y.onCommit = nil
	if s, err := y.at(t, s.ID, time.Minute); err != nil || s.State != Done || len(y.parked) != 1 {
		t.Errorf("%v %s, %d copies", err, s.State, len(y.parked))
	}
}

func TestItGivesUpLoudly(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*yard)
		after  time.Duration
		why    string
	}{
		"the position moved":        {func(y *yard) { y.position = 104 }, time.Minute, "104"},
		"nobody stopped the group":  {func(*yard) {}, ExpiresIn + time.Second, "Its time is over"},
		"another record lies there": {func(y *yard) { y.members = nil; y.log[0].Body = []byte("x") }, time.Minute, "not those that were shown"},
	} {
		y := newYard()
		s := y.arm(t, head())
		c.change(y)
		s, err := y.at(t, s.ID, c.after)
		if err != nil || s.State != Failed || !strings.Contains(s.Error, c.why) || len(y.commits)+len(y.parked) > 0 {
			t.Errorf("%s: %v %s %q, moved %v, %d copies", name, err, s.State, s.Error, y.commits, len(y.parked))
		}
	}
}

// Whoever reads that a skip was given up looks for what it left behind.
func TestGivenUpItSaysWhereCopiesLie(t *testing.T) {
	for name, c := range map[string]struct {
		begin func(*yard)
		why   string
	}{
		"the answer was lost":  {func(y *yard) { y.shipErr = errors.New("connection reset") }, "Copies may lie in payment.retry.dlq."},
		"members came back":    {func(y *yard) { y.onShip = func() { y.members = []sources.Member{{ID: "m-2", ClientID: "w"}} } }, "Stop group retry: it still has 1 member (w). Kafka takes a new position only while there are none. The copies stay in payment.retry.dlq."},
		"the move was refused": {func(y *yard) { y.onCommit = func() error { return errors.New("not authorised") } }, "The copies stay in payment.retry.dlq."},
	} {
		y := newYard()
		y.members = nil
		c.begin(y)
		s := y.arm(t, head())
		_, _ = y.at(t, s.ID, 0)
		s, err := y.at(t, s.ID, ExpiresIn+time.Second)
		if err != nil || s.State != Failed || s.Error != "Its time is over. "+c.why {
			t.Errorf("%s: %v %s %q", name, err, s.State, s.Error)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*yard, *Request)
		why    string
	}{
		"it stands elsewhere":            {func(_ *yard, r *Request) { r.Offset = 101 }, "stands at 100"},
		"nothing is readable":            {func(y *yard, _ *Request) { y.log = nil }, "nothing readable"},
		"past the stable end":            {func(_ *yard, r *Request) { r.ToOffset = 111 }, "readable to 110"},
		"backwards":                      {func(_ *yard, r *Request) { r.ToOffset = 100 }, "not after"},
		"an engine that does not join":   {func(y *yard, _ *Request) { y.alone = night.Add(-23 * time.Hour) }, "without joining"},
		"no dead-letter topic":           {func(y *yard, _ *Request) { y.queue = "" }, "no dead-letter topic"},
		"another source":                 {func(_ *yard, r *Request) { r.Line.Source = "aws" }, "no Kafka source"},
		"armed for days":                 {func(_ *yard, r *Request) { r.ExpiresIn = 48 * time.Hour }, "at most"},
		"workers that cannot be stopped": {func(_ *yard, r *Request) { r.Stop = true }, "no way to stop"},
	} {
		y, r := newYard(), head()
		c.change(y, &r)
		if _, err := y.desk().Arm(t.Context(), r); err == nil || !strings.Contains(err.Error(), c.why) || len(y.skips) > 0 {
			t.Errorf("%s: %v, want %q", name, err, c.why)
		}
	}
}

// cellar keeps records of skips, by the skip.
type cellar struct{ kept map[string]int }

func (c *cellar) Keep(_ context.Context, s Skip, _ time.Time) error {
	c.kept[s.ID] = len(s.Parked)
	return nil
}

func TestWithoutADeadLetterTopicTheRecordIsKeptByUs(t *testing.T) {
	y, c := newYard(), &cellar{map[string]int{}}
	y.queue, y.members = "", nil
	desk := y.desk()
	desk.Shelter = c
	s, err := desk.Arm(t.Context(), head())
	if err != nil {
		t.Fatal(err)
	}
	y.onCommit = func() error {
		if c.kept[s.ID] != 1 {
			t.Error("the position is moved before the record is kept")
		}
		return nil
	}
	man := y.watchman()
	man.Shelter = c
	if err := man.one(t.Context(), s, night); err != nil {
		t.Fatal(err)
	}
	if s, _ = y.Skip(t.Context(), s.ID); s.State != Done || y.position != 101 || len(y.parked) > 0 {
		t.Errorf("%s at %d, %d copies", s.State, y.position, len(y.parked))
	}
}

func TestOnlyOneOfALineIsArmed(t *testing.T) {
	y := newYard()
	s := y.arm(t, head())
	var state *StateError
	if _, err := y.desk().Arm(t.Context(), head()); !errors.As(err, &state) {
		t.Errorf("a second one: %v", err)
	}
	if _, err := y.desk().Disarm(t.Context(), s.ID, "ops-2"); err != nil {
		t.Fatal(err)
	}
	y.arm(t, head())
}

func TestAnAdvanceOfYesterdayWithoutMembersHindersNothing(t *testing.T) {
	y := newYard()
	y.alone = night.Add(-25 * time.Hour)
	y.arm(t, head())
}

func TestDisarmedItDoesNothing(t *testing.T) {
	y := newYard()
	s := y.arm(t, head())
	if _, err := y.desk().Disarm(t.Context(), s.ID, "ops-1"); err != nil {
		t.Fatal(err)
	}
	y.members = nil
	y.watchman().look(t.Context())
	if len(y.parked)+len(y.commits) > 0 {
		t.Errorf("%d parked, moved %v", len(y.parked), y.commits)
	}
	if _, err := y.desk().Disarm(t.Context(), s.ID, "ops-1"); err == nil {
		t.Error("disarmed twice")
	}
}

func TestUndo(t *testing.T) {
	y := newYard()
	y.members = nil
	s := y.arm(t, head())
	if _, err := y.at(t, s.ID, 0); err != nil {
		t.Fatal(err)
	}
	y.members = []sources.Member{{ID: "m", ClientID: "c"}}
	if _, err := y.desk().Undo(t.Context(), s.ID, "ops-1"); err == nil {
		t.Error("undone while the group has members")
	}
	y.members, y.position = nil, 103
	if _, err := y.desk().Undo(t.Context(), s.ID, "ops-1"); err == nil {
		t.Error("undone although it moved on")
	}
	y.position = 101
	s, err := y.desk().Undo(t.Context(), s.ID, "ops-1")
	if err != nil || s.State != Undone || y.position != 100 {
		t.Errorf("%v %s at %d", err, s.State, y.position)
	}
}

func TestACrashAfterThePositionIsBackIsAnUndoAllTheSame(t *testing.T) {
	y := newYard()
	y.members = nil
	s := y.arm(t, head())
	if _, err := y.at(t, s.ID, 0); err != nil {
		t.Fatal(err)
	}
	y.full = 2 // the undo is written down, and that it was carried out is not
	if _, err := y.desk().Undo(t.Context(), s.ID, "ops-1"); !errors.Is(err, errFull) || y.position != 100 {
		t.Fatalf("%v, at %d", err, y.position)
	}
	y.full = 0
	if s, err := y.at(t, s.ID, time.Minute); err != nil || s.State != Undone {
		t.Errorf("%v %s", err, s.State)
	}
}

func TestWhatASkipLedTo(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*yard)
		after  []time.Duration
		want   Outcome
	}{
		"the line moves":               {func(y *yard) { y.position = 105 }, []time.Duration{time.Minute}, Freed},
		"nothing more is to be read":   {func(y *yard) { y.end = 101 }, []time.Duration{time.Minute}, Freed},
		"it stands at the next record": {func(*yard) {}, []time.Duration{time.Minute, 6 * time.Minute}, DidNotHelp},
		"it stands, for a moment":      {func(*yard) {}, []time.Duration{time.Minute, 2 * time.Minute}, ""},
		"nobody started the workers":   {func(y *yard) { y.members = nil }, []time.Duration{time.Minute, time.Hour}, ""},
	} {
		y := newYard()
		members := y.members
		y.members = nil
		s := y.arm(t, head())
		if _, err := y.at(t, s.ID, 0); err != nil {
			t.Fatal(err)
		}
		y.members = members
		c.change(y)
		for _, after := range c.after {
			if _, err := y.at(t, s.ID, after); err != nil {
				t.Fatal(err)
			}
		}
		if s, _ := y.Skip(t.Context(), s.ID); s.Outcome != c.want {
			t.Errorf("%s: %q, want %q", name, s.Outcome, c.want)
		}
	}
}

func TestAPlanListsEveryRecordAndWritesNothing(t *testing.T) {
	y, r := newYard(), head()
	r.ToOffset = 104
	s, err := y.desk().Plan(t.Context(), r)
	if err != nil || s.ID != "" || len(s.Parked) != 4 || s.To != 104 || len(y.skips) > 0 {
		t.Errorf("%v %+v", err, s)
	}
}
