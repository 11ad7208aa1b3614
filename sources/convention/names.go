package convention

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// fifoEnding ends the name of every SQS FIFO queue, behind any other ending.
const fifoEnding = ".fifo"

// deadEndings and deadBeginnings are what a dead-letter queue's name has and
// the name of the queue that feeds it has not, in small letters. A longer one
// stands before those that it ends with. Sources: the frameworks' defaults
// (Spring's .DLT and -dlt, MassTransit's _error, Uber's __dlq, …) and the
// usual house styles.
var (
	deadEndings = []string{
		"-dead-letter-queue", "_dead_letter_queue", "-dead-letters", ".dead-letters", "_dead_letters",
		"-dead-letter", ".dead-letter", "_dead-letter", "_dead_letter", "-deadletter", ".deadletter", "_deadletter",
		"__dlq", "-dlq", ".dlq", "_dlq", "-dlt", ".dlt", "_dlt", "-dead", ".dead", "_dead",
		"-poison", ".poison", "_poison", "_error", "-error", ".error", "_skipped",
	}
	deadBeginnings = []string{"dead-letter-topic-", "dlq.", "dlq-", "dlq_", "dlt.", "dlt-", "error."}
)

// retryName is a queue in which messages wait for another attempt: the queue
// that it serves, and after the word the delay, the place, or both.
// "payment.retry.requests" is none: it says retry, but not of what.
var retryName = regexp.MustCompile(`^(.+?)[._-]+(?i:retry|retries)(?:[._-]?(\d+)(ms|s|m|h|d)?(?:[._-](\d+))?)?$`)

// KindOf tells what a queue is for by its name. A queue of dead letters of a
// retry queue holds dead letters.
func KindOf(name string) sources.QueueKind {
	plain := strings.TrimSuffix(name, fifoEnding)
	switch {
	case isDead(plain):
		return sources.DeadLetterQueue
	case retryName.MatchString(plain):
		return sources.RetryQueue
	}
	return sources.WorkQueue
}

func isDead(name string) bool {
	lower := strings.ToLower(name)
	if strings.HasSuffix(name, "DLQ") || strings.HasSuffix(name, "DLT") {
		return true
	}
	for _, word := range []string{"dead-letter", "dead_letter", "deadletter", "dead.letter"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	for _, e := range deadEndings {
		if strings.HasSuffix(lower, e) && len(lower) > len(e) {
			return true
		}
	}
	for _, b := range deadBeginnings[1:] { // the first holds a word above
		if strings.HasPrefix(lower, b) && (b != "error." || strings.Count(lower, ".") > 1) {
			return true
		}
	}
	return slices.Contains([]string{"dlq", "dlt", "dead", "poison", "error"}, lower)
}

// Parents are the queues that the name of a dead-letter or retry queue may
// belong to, the likeliest first, whether or not they are there; nil when the
// name says nothing. SQS FIFO queues keep their ending.
func Parents(name string) []string {
	plain, fifo := strings.CutSuffix(name, fifoEnding)
	lower := strings.ToLower(plain)
	var out []string
	add := func(base string) {
		if fifo {
			base += fifoEnding
		}
		if base != "" && !slices.Contains(out, base) {
			out = append(out, base)
		}
	}
	for _, e := range deadEndings {
		if strings.HasSuffix(lower, e) {
			add(plain[:len(plain)-len(e)])
		}
	}
	for _, b := range deadBeginnings {
		if strings.HasPrefix(lower, b) {
			add(plain[len(b):])
		}
	}
	if len(plain) > 3 && (strings.HasSuffix(plain, "DLQ") || strings.HasSuffix(plain, "DLT")) {
		add(plain[:len(plain)-3])
	}
	if m := retryName.FindStringSubmatch(plain); m != nil {
		add(m[1])
	}
	return out
}

// groupEndings are where a name has the group behind the queue's own name:
// Uber's <topic>__<group>__dlq, Spring Cloud Stream's error.<topic>.<group>.
var groupEndings = map[string]string{"__dlq": "__", "__retry": "__"}

// withoutGroup are the names that are left when a group is taken off.
func withoutGroup(dead, parent string) []string {
	var out []string
	for ending, separator := range groupEndings {
		if at := strings.Index(parent, separator); strings.HasSuffix(dead, ending) && at > 0 {
			out = append(out, parent[:at])
		}
	}
	for rest := parent; strings.HasPrefix(strings.ToLower(dead), "error."); {
		at := strings.LastIndexByte(rest, '.')
		if at <= 0 {
			break
		}
		rest = rest[:at]
		out = append(out, rest)
	}
	return out
}

// house is what is known of the queues of a source: which there are, and the
// retry chain of each.
type house struct {
	names  map[string]bool
	chains map[string][]string // by the queue that they serve: its retry queues, shortest delay first
}

func newHouse(names []string) *house {
	h := &house{names: make(map[string]bool, len(names)), chains: map[string][]string{}}
	for _, n := range names {
		h.names[n] = true
	}
	for n := range h.names {
		if base, _, ok := retryOf(n); ok {
			h.chains[base] = append(h.chains[base], n)
		}
	}
	for _, c := range h.chains {
		slices.SortFunc(c, inTurn)
	}
	return h
}

// inTurn orders the retry queues of a chain: by delay, then by number, then by
// name.
func inTurn(a, b string) int {
	_, delayA, _ := retryOf(a)
	_, delayB, _ := retryOf(b)
	return cmp.Or(cmp.Compare(delayA, delayB), strings.Compare(a, b))
}

// retryOf takes a retry queue's name apart: the queue that it serves, and a
// number to order it by: its delay, or its place.
func retryOf(name string) (base string, order time.Duration, ok bool) {
	plain, fifo := strings.CutSuffix(name, fifoEnding)
	m := retryName.FindStringSubmatch(plain)
	if m == nil || isDead(plain) {
		return "", 0, false
	}
	unit := map[string]time.Duration{
		"": time.Millisecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	}[m[3]]
	n, err := strconv.ParseInt(cmp.Or(m[2], "0"), 10, 32)
	if err != nil {
		return "", 0, false
	}
	place, err := strconv.ParseInt(cmp.Or(m[4], "0"), 10, 16)
	if err != nil {
		return "", 0, false
	}
	base = m[1]
	if fifo {
		base += fifoEnding
	}
	return base, time.Duration(n)*unit + time.Duration(place), true
}

// origin is the queue that a dead-letter or retry queue belongs to by its
// name: only one that is there, and never the queue itself.
func (h *house) origin(name string) string {
	return h.originOf(name, 4)
}

func (h *house) originOf(name string, depth int) string {
	if depth == 0 {
		return ""
	}
	for _, p := range Parents(name) {
		if h.names[p] {
			return p
		}
		for _, q := range withoutGroup(name, p) {
			if h.names[q] {
				return q
			}
		}
		if further := h.originOf(p, depth-1); further != "" {
			return further
		}
	}
	return ""
}

// work is the queue at the beginning of the chain that a queue belongs to by
// its name; the queue itself when it belongs to none.
func (h *house) work(name string) string {
	for range 4 {
		up := h.origin(name)
		if up == "" {
			break
		}
		name = up
	}
	return name
}

// attempts counts the attempts that a message made on its way to a queue: one
// in each queue of the chain before it. ok is false where there is no chain.
func (h *house) attempts(queue string) (n int, ok bool) {
	base := h.work(queue)
	chain := h.chains[base]
	if len(chain) == 0 || queue == base {
		return 0, false
	}
	if at := slices.Index(chain, queue); at >= 0 {
		return at + 1, true
	}
	return len(chain) + 1, KindOf(queue) == sources.DeadLetterQueue
}
