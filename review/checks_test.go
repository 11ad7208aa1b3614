package review

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

var monday = time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)

// goodLetter is one that nothing is to be said about: a letter of orders.dlq, on
// its way back to orders, which billing reads.
func goodLetter() *candidate {
	l := sources.DeadLetter{
		Source: "payments", Queue: "orders.dlq", Key: []byte("k"), Body: []byte("v"),
		Origin: sources.Origin{Queue: "orders", Group: "billing", Timestamp: monday.Add(-48 * time.Hour)},
	}
	return &candidate{
		letter: Letter{ID: "dl_1", BodyKept: true, Status: Open, DeadLetter: l}, sent: l, total: 37,
		way: Way{Queue: "orders"}, rules: Rules{To: sources.Patterns{Include: []string{"*"}}},
		about: sources.Destination{Partitions: 3, Retention: 7 * 24 * time.Hour}, kind: sources.WorkQueue,
		receivers: []sources.Receiver{{Queue: "orders", Group: "billing", State: "Stable", Lag: 12}}, asked: true, now: monday,
	}
}

// TestEachWarningOfAPlan: what makes each, what it says, and its evidence.
func TestEachWarningOfAPlan(t *testing.T) {
	for what, c := range map[string]struct {
		change  func(*candidate)
		code    string // "" for none
		confirm bool
		says    string
		seen    string // a line of the evidence; "" for none
	}{
		"nothing to say":            {change: func(*candidate) {}},
		"done already":              {func(c *candidate) { c.done = "payment.settled partition 2 offset 1,204" }, "already_done", true, "1 of 37 letters are done already: leave it out", "letter dl_1: payment.settled partition 2 offset 1,204"},
		"came back once":            {change: func(c *candidate) { c.letter.Returns = 1 }},
		"came back twice":           {func(c *candidate) { c.letter.Returns = 2 }, "returned_before", true, "1 letter has come back twice or more", "letter dl_1 came back 2 times"},
		"wedged its group":          {func(c *candidate) { c.stalls = []string{"incident 7, partition 3 of orders"} }, "wedged_before", true, "1 letter stood at the head of a stall", "letter dl_1: incident 7, partition 3 of orders"},
		"into a dead-letter queue":  {func(c *candidate) { c.way.Queue, c.kind = "other.dlq", sources.DeadLetterQueue }, "into_itself", true, "1 letter would go to other.dlq, a dead-letter queue", ""},
		"C71: the target is itself": {func(c *candidate) { c.way.Queue = "orders.dlq" }, "into_itself", true, "the target is the source: 1 letter would go back into orders.dlq", ""},
		"somebody else reads it": {
			func(c *candidate) { c.others = []string{"group resend reads orders.dlq: Stable, lag 0"} }, "source_read_by_others", true,
			"somebody else reads orders.dlq and may redrive too", "group resend reads orders.dlq: Stable, lag 0",
		},
		"an old timestamp is not kept": {change: func(c *candidate) { c.about.Retention = time.Hour }},
		"older than the retention": {
			func(c *candidate) { c.keepTime, c.about.Retention = true, time.Hour }, "old_timestamp", true,
			"1 letter is so old that orders deletes or refuses it", "letter dl_1: of 2026-09-12 09:00:00 UTC; orders keeps records for 1h0m0s",
		},
		"C73: older than the broker takes": {
			func(c *candidate) { c.keepTime, c.about.OldestTaken = true, time.Hour }, "old_timestamp", true,
			"send with the current time", "letter dl_1: of 2026-09-12 09:00:00 UTC; orders refuses records older than 1h0m0s (message.timestamp.before.max.ms)",
		},
		"kept for ever":              {change: func(c *candidate) { c.keepTime, c.about.Retention = true, -1 }},
		"an old one that still fits": {change: func(c *candidate) { c.keepTime = true }},
		"SQS has forgotten it": {
			func(c *candidate) { c.letter.Status, c.letter.Place.MessageID = Expired, "m" }, "stored_copy", true,
			"1 letter is not in orders.dlq any more, and somebody else may have taken it: our stored copy would be sent", "",
		},
		"Kafka has forgotten it": {func(c *candidate) { c.letter.Status = Expired }, "rescued", false, "orders.dlq has forgotten 1 letter: our stored copy is sent", ""},
		"a hint":                 {func(c *candidate) { c.way.Hint = true }, "target_from_header", false, "only a header says that 1 letter goes to orders", ""},
		"C76: the group that failed, and others": {func(c *candidate) {
			c.receivers = append(c.receivers, sources.Receiver{Queue: "orders", Group: "email", State: "Empty"}, sources.Receiver{Queue: "orders", Group: "search", Lag: sources.NotKnown})
		}, "many_receivers", false, "email and search will also receive this 1 letter, and not only billing, which failed on it", "email reads orders: Empty, lag 0; it has read past the original already"},
		"C76: nobody knows which group failed": {func(c *candidate) {
			c.letter.Origin.Group = ""
			c.receivers = append(c.receivers, sources.Receiver{Queue: "orders", Group: "email", Lag: sources.NotKnown})
		}, "many_receivers", false, "billing and email will each receive this 1 letter, for all of them read orders", "email reads orders: state unknown, lag unknown"},
		"one other group than the one that failed": {change: func(c *candidate) { c.letter.Origin.Group = "gone" }},
		"nobody reads it":                          {func(c *candidate) { c.receivers = nil }, "no_reader", false, "nobody reads orders: 1 letter would wait there", "no group has a member on orders, or has ever committed a position there"},
		"nobody can tell who reads it":             {change: func(c *candidate) { c.receivers, c.asked = nil, false }},
		"a newer record of its key":                {func(c *candidate) { c.newer = "orders partition 1 offset 9 has its key" }, "newer_same_key", false, "1 letter has newer records of the same key", "letter dl_1: orders partition 1 offset 9 has its key"},
		"no value":                                 {change: func(c *candidate) { c.sent.Body = nil }},
		"no value, and compacted":                  {func(c *candidate) { c.sent.Body, c.about.Compacted = nil, true }, "tombstone", false, "1 letter has no value: in orders, which is compacted, that deletes its key", ""},
		"C74: no key, and compacted":               {func(c *candidate) { c.sent.Key, c.about.Compacted = nil, true }, "key_needed", false, "orders is compacted: a key is needed, and 1 letter has none", ""},
		"FIFO by the body":                         {func(c *candidate) { c.about.FIFO, c.about.DefaultDedup = true, true }, "fifo_dedup", false, "1 letter goes to orders, which drops repeats within five minutes", "orders tells repeats by the body (content-based deduplication); it does not look at the body where an id is given"},
		"FIFO, sent a minute ago": {func(c *candidate) {
			c.about.FIFO, c.letter.System = true, map[string]string{"SentTimestamp": fmt.Sprint(monday.Add(-time.Minute).UnixMilli())}
		}, "fifo_dedup", false, "drops repeats within five minutes", "letter dl_1 was sent at 2026-09-14 08:59:00 UTC, less than five minutes ago"},
		"FIFO, sent six minutes ago": {change: func(c *candidate) {
			c.about.FIFO, c.letter.System = true, map[string]string{"SentTimestamp": fmt.Sprint(monday.Add(-6 * time.Minute).UnixMilli())}
		}},
		"FIFO, in a message group":       {func(c *candidate) { c.about.FIFO, c.letter.System = true, map[string]string{"MessageGroupId": "g"} }, "fifo_order", false, "1 letter goes to the end of its message group in orders: behind what was sent there since", ""},
		"expires tonight":                {func(c *candidate) { c.letter.ExpiresAt = monday.Add(23 * time.Hour) }, "expires_soon", false, "the broker forgets 1 letter within a day", "letter dl_1 may be gone from 2026-09-15 08:00:00 UTC on"},
		"expires the day after":          {change: func(c *candidate) { c.letter.ExpiresAt = monday.Add(25 * time.Hour) }},
		"a tombstone where all are kept": {change: func(c *candidate) { c.sent.Body, c.sent.Key = nil, nil }},
	} {
		t.Run(what, func(t *testing.T) {
			one := goodLetter()
			c.change(one)
			refused, found := judge(one)
			if refused != nil {
				t.Fatalf("refused as %s", refused.code)
			}
			told := warned{}
			told.add(one, found)
			all := told.all()
			if c.code == "" {
				if len(all) > 0 {
					t.Errorf("%+v", all)
				}
				return
			}
			if len(all) != 1 || all[0].Code != c.code || all[0].MustConfirm != c.confirm || !strings.Contains(all[0].Message, c.says) {
				t.Fatalf("%+v, want %s: %s", all, c.code, c.says)
			}
			if c.seen == "" && len(all[0].Evidence) > 0 || c.seen != "" && !slices.Contains(all[0].Evidence, c.seen) {
				t.Errorf("evidence %q, want %q", all[0].Evidence, c.seen)
			}
		})
	}
}

// TestEachRefusalOfAPlan: a refusal is all that is said of its letter, and says
// why.
func TestEachRefusalOfAPlan(t *testing.T) {
	missing := fmt.Errorf("topic orders: %w", sources.ErrNoSuchQueue)
	for what, c := range map[string]struct {
		change  func(*candidate)
		refused string
		because string
	}{
		"the body is forgotten":     {func(c *candidate) { c.letter.BodyKept = false }, "payload_gone", "the store has forgotten its body"},
		"a description":             {func(c *candidate) { c.sent.NotTheOriginal = true }, "not_the_original", "only an edit that replaces the whole value"},
		"the edit does not fit":     {func(c *candidate) { c.editErr = errors.New("/currency is not there") }, "edit_fails", "/currency is not there"},
		"no way back":               {func(c *candidate) { c.way = Way{Why: "no route says where"} }, "no_target", "no route says where"},
		"a name, and no such queue": {func(c *candidate) { c.way.Guess, c.aimed = true, missing }, "no_target", "there is no such queue"},
		"the target is not there":   {func(c *candidate) { c.aimed = missing }, "target_missing", "orders is not there"},
		"not allowed":               {func(c *candidate) { c.rules = Rules{} }, "target_forbidden", "redrive_to of source payments does not allow orders"},
		"the broker does not allow": {func(c *candidate) { c.aimed = sources.ErrNotAuthorised }, "target_forbidden", "not authorised"},
		"the broker's own":          {func(c *candidate) { c.way.Queue = "__consumer_offsets" }, "target_forbidden", "__consumer_offsets"},
		"too large":                 {func(c *candidate) { c.aimed = sources.ErrTooLarge }, "too_large", "too large"},
	} {
		t.Run(what, func(t *testing.T) {
			one := goodLetter()
			one.way.Hint, one.letter.Returns = true, 5
			c.change(one)
			refused, found := judge(one)
			if refused == nil || refused.code != c.refused || len(found) > 0 || !strings.Contains(refused.because(one), c.because) {
				t.Errorf("%+v %v, want %s: %s", refused, found, c.refused, c.because)
			}
		})
	}
}

func TestWarningsAddUp(t *testing.T) {
	one := goodLetter()
	one.way.Hint, one.receivers, one.letter.Returns = true, nil, 2
	_, found := judge(one)
	var codes []string
	for _, k := range found {
		codes = append(codes, k.code)
	}
	if want := []string{"returned_before", "target_from_header", "no_reader"}; !slices.Equal(codes, want) {
		t.Errorf("%v, want %v", codes, want)
	}
}

// TestWarningsNameAThousandLettersAndCountAll, and tell of each target by itself.
func TestWarningsNameAThousandLettersAndCountAll(t *testing.T) {
	told := warned{}
	for i := range 1500 {
		one := goodLetter()
		one.letter.ID, one.receivers, one.letter.Returns = fmt.Sprint("dl_", i), nil, 2
		one.way.Queue = []string{"a", "b", "c", "d", "e"}[i%5]
		_, found := judge(one)
		told.add(one, found)
	}
	all := told.all()
	if len(all) != 2 || all[0].Code != "returned_before" || all[0].Count != 1500 || len(all[0].LetterIDs) != 1000 || len(all[0].Evidence) != 20 {
		t.Fatalf("%+v", all)
	}
	want := "nobody reads a: 300 letters would wait there for a reader; nobody reads b: 300 letters would wait there for a reader; " +
		"nobody reads c: 300 letters would wait there for a reader; and so for 600 letters more"
	if all[1].Message != want {
		t.Errorf("%s", all[1].Message)
	}
}
