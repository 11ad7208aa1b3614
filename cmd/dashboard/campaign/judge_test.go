package campaign

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// drain lets the program finish in peace: what is paused is resumed, and it is
// waited until every redrive has ended.
func (r *run) drain(within time.Duration) error {
	r.program.kill()
	if err := r.begin(); err != nil {
		return err
	}
	return r.settled(within)
}

func (r *run) settled(within time.Duration) error {
	return eventually(r.ctx, within, func() error {
		jobs, err := r.learn(r.ctx)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			if !j.ended() {
				return fmt.Errorf("redrive %s is %s (%s): %v %s\n%s", j.ID, j.State, j.Reason, j.Counts, j.Trouble, r.lastLog(10))
			}
			if j.out() > 0 {
				return fmt.Errorf("redrive %s is %s with letters that are not settled: %v", j.ID, j.State, j.Counts)
			}
		}
		return nil
	})
}

// finish judges a run: what the brokers have now, then again when the letters
// that are unknown were decided by the evidence and every letter that is still
// open was redriven.
func (r *run) finish() error {
	if err := r.drain(4 * time.Minute); err != nil {
		return err
	}
	for range 5 {
		if _, err := r.judge(); err != nil {
			return err
		}
		decided, err := r.decide(r.ctx)
		if err != nil {
			return err
		}
		if sent, err := r.rest(); err != nil || sent == 0 && decided == 0 {
			return errors.Join(err, r.close())
		}
	}
	return errors.New("after five rounds there are letters that are open or unknown")
}

// rest redrives everything that the program says is open.
func (r *run) rest() (int, error) {
	all, err := r.api.letters(r.ctx, r.queue(), "open")
	if err != nil || len(all) == 0 {
		return 0, err
	}
	var ids []string
	for _, l := range all {
		ids = append(ids, l.ID)
	}
	if _, err := r.post(r.ctx, "/api/v1/redrives", map[string]any{"ids": ids, "confirm": confirmed}, nil); err != nil {
		return 0, err
	}
	return len(ids), r.settled(3 * time.Minute)
}

// there is how often each letter has arrived by now.
func (r *run) there(ctx context.Context) (map[string]int, error) {
	got, err := r.arrived(ctx)
	byPrint := r.byPrint()
	there := map[string]int{}
	for _, a := range got {
		if l := byPrint[a.print]; l != nil {
			there[l.id]++
		}
	}
	return there, err
}

func (r *run) byPrint() map[string]*letter {
	byPrint := map[string]*letter{}
	for _, l := range r.letters {
		byPrint[l.print] = l
	}
	return byPrint
}

// judge compares what arrived with what the ledger says of each letter.
func (r *run) judge() (map[string]int, error) {
	ledger, _, err := r.ledger(r.ctx)
	if err != nil {
		return nil, err
	}
	got, err := r.arrived(r.ctx)
	if err != nil {
		return nil, err
	}
	there, byPrint := map[string]int{}, r.byPrint()
	r.counts.arrived, r.counts.changed, r.counts.bytes = len(got), 0, 0
	for _, a := range got {
		l := byPrint[a.print]
		if l == nil {
			r.counts.changed++
			r.violate("at %s of the target lies what nobody dead-lettered: its bytes are others (lineage %q)", a.where, a.lineage)
			continue
		}
		there[l.id]++
		r.counts.bytes += int64(a.size)
		r.judgeHeaders(l, a, ledger[l.id])
	}
	r.counts.lost, r.counts.duplicated = 0, 0
	for _, l := range r.letters {
		r.judgeLetter(l, there[l.id], ledger[l.id])
	}
	if r.promises().ordered {
		r.judgeOrder(got, byPrint, ledger)
	}
	return there, nil
}

// judgeLetter holds what the ledger says of a letter against how often it is
// there.
func (r *run) judgeLetter(l *letter, there int, items []item) {
	passed, unknown := 0, 0
	for _, i := range items {
		switch {
		case i.State == "unknown":
			unknown++
			r.flagged[l.id] = true
		case i.State == "planned" || i.State == "sending" || i.State == "sent":
			r.violate("item %s of letter %s is %s at the end", i.ID, l.id, i.State)
		case i.passed():
			passed++
		}
	}
	r.counts.flagged = len(r.flagged)
	switch {
	case there < passed:
		r.counts.lost++
		r.violate("letter %s (%s) is lost: %d of its items passed, and it is there %d times: %s", l.id, l.where, passed, there, show(items))
	case there > passed+unknown || there > 1:
		if r.promises().ambiguous && r.flagged[l.id] {
			r.counts.resent++
			return
		}
		r.counts.duplicated++
		r.violate("letter %s (%s) is there %d times, and the ledger has: %s", l.id, l.where, there, show(items))
	}
}

func show(items []item) string {
	var all []string
	for _, i := range items {
		all = append(all, fmt.Sprintf("%s %s (%s)", i.ID, i.State, i.Error))
	}
	return strings.Join(all, ", ")
}

// judgeHeaders looks at what the program added: the lineage names the item that
// sent it, and on Kafka the time of the original is kept.
func (r *run) judgeHeaders(l *letter, a arrival, items []item) {
	full := !r.promises().keeps && len(l.headers) >= 10 // no attribute is left for ours
	if a.lineage != "" || !full {
		sender, of, _ := strings.Cut(a.lineage, " ")
		if of != l.id || !slices.ContainsFunc(items, func(i item) bool { return i.ID == sender }) {
			r.violate("letter %s has the lineage %q, and its items are: %s", l.id, a.lineage, show(items))
		}
	}
	if r.promises().keeps && a.origin != l.originMillis() {
		r.violate("letter %s at %s has the original timestamp %q, want %s", l.id, a.where, a.origin, l.originMillis())
	}
}

// judgeOrder wants the letters of a FIFO group that one redrive sent in the
// order in which they lay in the dead-letter queue. Across redrives nothing is
// promised: one may be paused while a person starts another.
func (r *run) judgeOrder(got []arrival, byPrint map[string]*letter, ledger map[string][]item) {
	sender := func(a arrival) string {
		id, _, _ := strings.Cut(a.lineage, " ")
		for _, i := range ledger[byPrint[a.print].id] {
			if i.ID == id {
				return i.Job
			}
		}
		return ""
	}
	sorted := slices.DeleteFunc(slices.Clone(got), func(a arrival) bool { return byPrint[a.print] == nil })
	slices.SortStableFunc(sorted, func(a, b arrival) int {
		if len(a.order) != len(b.order) {
			return len(a.order) - len(b.order)
		}
		return strings.Compare(a.order, b.order)
	})
	last := map[string]int{}
	for _, a := range sorted {
		l := byPrint[a.print]
		if a.group != l.group {
			r.violate("letter %s is in group %q, and was in %q", l.id, a.group, l.group)
		}
		line := l.group + " " + sender(a)
		if before, ok := last[line]; ok && l.number < before {
			r.violate("group %s: letter %d arrived after letter %d", l.group, l.number, before)
		}
		last[line] = l.number
	}
}

// decide settles what is unknown by the evidence, as a person does: first it is
// seen what is unknown, then what has arrived.
func (r *run) decide(ctx context.Context) (n int, err error) {
	ledger, _, err := r.ledger(ctx)
	if err != nil {
		return 0, err
	}
	var unknown []item
	for id, items := range ledger {
		for _, i := range items {
			if i.State == "unknown" {
				unknown = append(unknown, i)
				r.flagged[id] = true
			}
		}
	}
	if len(unknown) == 0 {
		return 0, nil
	}
	there, err := r.there(ctx)
	if err != nil {
		return 0, err
	}
	for _, i := range unknown {
		as := "not_sent"
		if there[i.Letter] > 0 {
			as = "sent"
		}
		_, err := r.post(ctx, "/api/v1/redrives/items/"+url.PathEscape(i.ID)+"/settle", map[string]string{"as": as}, nil)
		if err := r.notNow(err); err != nil {
			return n, err
		}
		if n++; as == "not_sent" && !slices.Contains(r.open, r.byID[i.Letter]) {
			r.open = append(r.open, r.byID[i.Letter])
		}
	}
	return n, nil
}

// close judges the end: every letter is at the target, once, and the
// dead-letter queue has what its kind keeps. The audit has every effect once.
func (r *run) close() error {
	there, err := r.judge()
	if err != nil {
		return err
	}
	if err := errors.Join(r.judgeAudit(), r.lookForDiscarded(r.ctx)); err != nil {
		return err
	}
	if err := r.stop(); err != nil {
		return err
	}
	left, err := r.left(r.ctx)
	if err != nil {
		return err
	}
	for _, l := range r.letters {
		switch n := there[l.id]; {
		case r.discarded[l.id] && (n > 0 || !left[l.where]):
			r.violate("letter %s is discarded, and is %d times at the target, in the dead-letter queue: %t", l.id, n, left[l.where])
		case r.discarded[l.id]:
		case n == 0 && left[l.where]:
			r.violate("letter %s was never redriven, though every redrive has ended", l.id)
		case n == 0:
			r.counts.lost++
			r.violate("letter %s is neither at the target nor in the dead-letter queue", l.id)
		case r.promises().keeps && !left[l.where]:
			r.violate("letter %s is gone from the dead-letter topic", l.id)
		case !r.promises().keeps && left[l.where] && !r.flagged[l.id]:
			r.violate("letter %s arrived, and lies in the dead-letter queue still", l.id)
		}
	}
	return nil
}

// judgeAudit wants one line in the audit for each letter that was sent.
func (r *run) judgeAudit() error {
	ctx, cancel := context.WithTimeout(r.ctx, time.Minute)
	defer cancel()
	if status, _, err := r.call(ctx, "GET", "/api/v1/audit?limit=1", nil); err != nil || status == 404 {
		return err
	}
	entries, err := pages[entry](ctx, r.api, "/api/v1/audit", "entries", nil)
	if err != nil {
		return err
	}
	r.counts.audited = len(entries)
	sent := map[string]int{}
	for _, e := range entries {
		if e.Action == "redrive" && (strings.HasPrefix(e.Outcome, "sent to ") || e.Outcome == "decided: it was sent") {
			sent[e.On]++
		}
	}
	ledger, _, err := r.ledger(ctx)
	if err != nil {
		return err
	}
	for _, l := range r.letters {
		want := 0
		for _, i := range ledger[l.id] {
			if i.passed() {
				want++
			}
		}
		if sent[l.id] != want {
			r.violate("the audit has %d lines of letter %s being sent, and %d of its items passed", sent[l.id], l.id, want)
		}
	}
	return nil
}
