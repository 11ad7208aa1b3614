package store

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/review"
)

// postRoom is a store whose dead-letter queues are watched, at a time of its
// own.
type postRoom struct {
	*Store
	t       *testing.T
	path    string
	now     time.Time
	rules   alerts.BurstRules
	letters int
}

func newPostRoom(t *testing.T, rules ...alerts.BurstRule) *postRoom {
	t.Helper()
	path := filepath.Join(t.TempDir(), "unwedge.db")
	return &postRoom{Store: reopen(t, path), t: t, path: path, now: night, rules: rules}
}

// restart begins another run with what the store has.
func (p *postRoom) restart() {
	p.t.Helper()
	must(p.t, p.Close())
	p.Store = reopen(p.t, p.path)
}

// pass lets time pass, with a look of the burst watcher each minute.
func (p *postRoom) pass(d time.Duration) {
	p.t.Helper()
	for end := p.now.Add(d); p.now.Before(end); p.now = p.now.Add(time.Minute) {
		p.watch()
	}
}

func (p *postRoom) watch() {
	p.t.Helper()
	b := alerts.NewBurstWatcher(p.rules, p, []alerts.Recipient{{Name: "oncall"}}, slog.New(slog.DiscardHandler))
	b.Clock = func() time.Time { return p.now }
	must(p.t, b.Look(p.t.Context()))
}

// arrive has n letters found now that died some time ago; 0: nobody knows when.
func (p *postRoom) arrive(queue string, n int, ago time.Duration, cause string) {
	p.t.Helper()
	list := payments(p.letters, n)
	p.letters += n
	for i := range list {
		list[i].Queue, list[i].DeadAt = queue, time.Time{}
		if ago > 0 {
			list[i].DeadAt = p.now.Add(-ago)
		}
	}
	l := look(list, p.now, func(int) string { return cause })
	l.Scanned = true
	p.take(l)
}

func (p *postRoom) take(l review.Look) {
	p.t.Helper()
	_, err := p.Take(p.t.Context(), l)
	must(p.t, err)
	p.watch()
}

// open reads the queue to its end before anything is in it.
func (p *postRoom) open(queue string) {
	p.t.Helper()
	p.take(review.Look{Source: "payments", Queue: queue, At: p.now.Add(-time.Second), Cursor: []byte("0"), Scanned: true})
}

// told are the incidents of all queues, oldest first: "queue: what was told".
func (p *postRoom) told() (all []string) {
	p.t.Helper()
	list, _, err := p.Incidents(p.t.Context(), alerts.IncidentFilter{}, 100, "")
	must(p.t, err)
	for _, in := range slices.Backward(list) {
		said := fmt.Sprintf("%s %s", in.Queue, in.Verdict)
		for _, d := range in.Deliveries {
			said += " " + d.Event
		}
		all = append(all, said)
	}
	return all
}

func (p *postRoom) want(want ...string) {
	p.t.Helper()
	if got := p.told(); !slices.Equal(got, want) {
		p.t.Errorf("told %q, want %q", got, want)
	}
}

var fifty = alerts.BurstRule{MoreThan: 50, Within: 10 * time.Minute}

// TestABurstIsOneIncidentUntilItIsCalm, through more of the same and restarts.
func TestABurstIsOneIncidentUntilItIsCalm(t *testing.T) {
	p := newPostRoom(t, fifty)
	p.open("a.dlq")
	p.arrive("a.dlq", 50, 0, "ca_one")
	p.want()
	p.arrive("a.dlq", 1, 0, "ca_one")
	p.want("a.dlq dead_letter_burst trigger")
	p.restart()
	p.pass(5 * time.Minute)
	p.arrive("a.dlq", 1000, 0, "ca_two")
	p.restart()
	p.pass(9 * time.Minute)
	p.want("a.dlq dead_letter_burst trigger")
	p.pass(2 * time.Minute)
	list, _, err := p.Incidents(t.Context(), alerts.IncidentFilter{Status: alerts.Resolved}, 10, "")
	must(t, err)
	if len(list) != 1 || list[0].Group != "" || !list[0].Pages || list[0].Resolution == "" {
		t.Fatalf("resolved: %+v", list)
	}
	p.arrive("a.dlq", 60, 0, "ca_one")
	p.want("a.dlq dead_letter_burst trigger resolve", "a.dlq dead_letter_burst trigger")
}

// TestC90ADeadLetterQueueThatIsNeverEmptyHidesNothing: 2,400 letters have lain
// there for a week. One more is no page, fifty more are one, and what arrives
// while others are redriven counts although the queue gets shorter.
func TestC90ADeadLetterQueueThatIsNeverEmptyHidesNothing(t *testing.T) {
	p := newPostRoom(t, alerts.BurstRule{MoreThan: 49, Within: 10 * time.Minute})
	p.arrive("a.dlq", 2400, 7*24*time.Hour, "ca_one")
	p.pass(time.Hour)
	p.arrive("a.dlq", 1, 0, "ca_one")
	p.pass(11 * time.Minute)
	p.want()
	p.arrive("a.dlq", 50, 0, "ca_one")
	p.want("a.dlq dead_letter_burst trigger")
	p.arrive("a.dlq", 20, 0, "ca_one")
	a, err := p.LettersArrived(t.Context(), alerts.DeadLetterQueue{Source: "payments", Name: "a.dlq"}, p.rules[0], p.now)
	if must(t, err); a.Count != 70 {
		t.Errorf("%d arrived", a.Count)
	}
}

// TestLettersThatTrickleAreNoBurst: fifty within any ten minutes, for two hours.
func TestLettersThatTrickleAreNoBurst(t *testing.T) {
	p := newPostRoom(t, fifty)
	p.open("a.dlq")
	for range 120 {
		p.arrive("a.dlq", 5, 0, "ca_one")
		p.now = p.now.Add(time.Minute)
	}
	p.want()
}

// TestTheFirstReadingOfAnOldQueueIsNoBurst, whether the transport tells when its
// letters died or not; what died a moment before is one all the same.
func TestTheFirstReadingOfAnOldQueueIsNoBurst(t *testing.T) {
	rule := fifty
	rule.NewCause = true
	p := newPostRoom(t, rule)
	p.arrive("kafka.dlq", 5000, 3*time.Hour, "ca_one")
	p.arrive("sqs-dlq", 5000, 0, "ca_two")
	p.pass(20 * time.Minute)
	p.want()
	p.arrive("new.dlq", 60, time.Minute, "ca_three")
	p.want("new.dlq dead_letter_burst trigger")
}

// TestAFirstReadingInManyPiecesIsNoBurst: each piece is found minutes after the
// one before.
func TestAFirstReadingInManyPiecesIsNoBurst(t *testing.T) {
	p := newPostRoom(t, fifty)
	for range 5 {
		list := payments(p.letters, 200)
		p.letters += 200
		for i := range list {
			list[i].DeadAt = time.Time{}
		}
		l := look(list, p.now, oneCause)
		l.Scanned, l.More = true, true
		p.take(l)
		p.pass(2 * time.Minute)
	}
	p.want()
}

// TestLettersOfATimeWithoutUsCountWhenTheyDied: 600 of three hours, found at
// once.
func TestLettersOfATimeWithoutUsCountWhenTheyDied(t *testing.T) {
	p := newPostRoom(t, fifty)
	p.open("a.dlq")
	p.now = p.now.Add(3 * time.Hour)
	list := payments(0, 600)
	for i := range list {
		list[i].Queue, list[i].DeadAt = "a.dlq", p.now.Add(-time.Duration(i)*18*time.Second)
	}
	l := look(list, p.now, oneCause)
	l.Scanned = true
	p.take(l)
	p.want()
}

// TestACopyThatKeptItsOldTimestampArrivedNow: Kafka Connect keeps the original's
// (DeadLetterQueueReporter).
func TestACopyThatKeptItsOldTimestampArrivedNow(t *testing.T) {
	p := newPostRoom(t, fifty)
	p.open("a.dlq")
	p.arrive("a.dlq", 60, 72*time.Hour, "ca_one")
	p.want("a.dlq dead_letter_burst trigger")
}

// TestACauseNeverSeenBeforeIsAnIncident, once: also when one letter has it, and
// not again in another queue.
func TestACauseNeverSeenBeforeIsAnIncident(t *testing.T) {
	p := newPostRoom(t, alerts.BurstRule{NewCause: true})
	p.open("a.dlq")
	p.open("b.dlq")
	p.arrive("a.dlq", 1, 0, "ca_one")
	p.want("a.dlq dead_letter_burst trigger")
	list, _, err := p.Incidents(t.Context(), alerts.IncidentFilter{}, 1, "")
	must(t, err)
	if want := "Dead letters in a.dlq: a cause never seen before: title of ca_one"; list[0].Title != want {
		t.Errorf("it is called %q, want %q", list[0].Title, want)
	}
	p.pass(15 * time.Minute)
	p.arrive("b.dlq", 1, 0, "ca_one")
	p.pass(time.Minute)
	p.want("a.dlq dead_letter_burst trigger resolve")
	p.arrive("b.dlq", 1, 0, "ca_two")
	p.want("a.dlq dead_letter_burst trigger resolve", "b.dlq dead_letter_burst trigger")
}

// TestQueuesWithoutARuleOpenNothing, and each queue has its own incident.
func TestQueuesWithoutARuleOpenNothing(t *testing.T) {
	warn := fifty
	warn.Queue, warn.Page = "warned.*", alerts.PageWarn
	other := fifty
	other.Queue = "*.dlq"
	p := newPostRoom(t, alerts.BurstRule{Queue: "quiet.dlq", Page: alerts.PageOff}, warn, other)
	for _, queue := range []string{"quiet.dlq", "warned.dlq", "a.dlq", "b.dlq", "c-dlt"} {
		p.open(queue)
		p.arrive(queue, 60, 0, "ca_one")
	}
	p.want("warned.dlq dead_letter_burst", "a.dlq dead_letter_burst trigger", "b.dlq dead_letter_burst trigger")
}
