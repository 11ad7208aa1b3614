package alerts

import "testing"

// TestARewindOnPurposeIsNoStallAtAnyPoll: the line works again on what it had
// passed, and whether that is seen must not hang on how often we look.
func TestARewindOnPurposeIsNoStallAtAnyPoll(t *testing.T) {
	for _, poll := range []int{1, 5, 10, 14, 15, 16, 20, 30, 60} {
		back := func(t int) int64 {
			if t < 3600 {
				return int64(t)
			}
			return int64(t - 1800) // set back by half an hour, and moving on
		}
		m := model{poll: poll, until: 7200, lines: []modelLine{{pos: back, end: func(t int) int64 { return int64(t) + 5000 }}, moving}}
		if got := m.run(t).pages(); len(got) != 0 {
			t.Errorf("at a poll of %d s: paged at %v", poll, got)
		}
	}
}

// TestALineThatStoodDidNotReadWhatRetentionTook: it stood until retention
// passed it, and was then found at the new start, or at the end.
func TestALineThatStoodDidNotReadWhatRetentionTook(t *testing.T) {
	for name, landed := range map[string]func(int) int64{"at the new start": fixed(5000), "at the end": busy} {
		m := model{until: 2000, lines: []modelLine{{
			pos: func(t int) int64 {
				if t < 1500 {
					return min(busy(t), 2000)
				}
				return landed(t)
			},
			start: func(t int) int64 { return map[bool]int64{true: 5000}[t >= 1500] },
		}, moving}}
		n := m.run(t)
		if said := n.said(1500, 0); said.Verdict != DataLoss {
			t.Errorf("%s: %s, %s", name, said.Verdict, said.Reason)
		}
	}
}
