package alerts

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// longestLine is the most that one reading of a recorded group may take.
const longestLine = 64 << 20

// ErrTrace is a recorded history that cannot be read.
var ErrTrace = errors.New("not a recorded lag history")

// Replay runs one recorded history of a group through the detector and writes
// what it would have said and paged, one line a partition and reading. Both are
// JSON lines, as docs/verdicts.md describes them. Each history is judged by
// itself; an error names the line that could not be read.
func Replay(r io.Reader, rules Rules, w io.Writer) error {
	scan := bufio.NewScanner(r)
	scan.Buffer(make([]byte, 0, 1<<20), longestLine)
	out := bufio.NewWriter(w)
	play := player{rules: rules, out: json.NewEncoder(out)}
	play.out.SetEscapeHTML(false)
	for number := 1; scan.Scan(); number++ {
		text := bytes.TrimSpace(scan.Bytes())
		if len(text) == 0 {
			continue
		}
		if err := play.line(text); err != nil {
			return errors.Join(fmt.Errorf("line %d: %w", number, err), out.Flush())
		}
	}
	if err := scan.Err(); err != nil {
		return fmt.Errorf("read the history: %w", err)
	}
	if !play.begun {
		return fmt.Errorf("%w: it is empty", ErrTrace)
	}
	return out.Flush()
}

// player is one history being replayed.
type player struct {
	rules Rules
	out   *json.Encoder
	head  traceHead
	begun bool
	last  float64
	watch GroupWatch
}

func (p *player) line(text []byte) error {
	if !p.begun {
		p.begun = true
		return p.head.read(text)
	}
	var r traceReading
	if err := strict(text, &r); err != nil {
		return err
	}
	if r.T == nil {
		return fmt.Errorf("%w: a reading without its time \"t\"", ErrTrace)
	}
	if math.Abs(*r.T) > 1e11 {
		return fmt.Errorf("%w: %v is no time in seconds", ErrTrace, *r.T)
	}
	if *r.T < p.last {
		return fmt.Errorf("%w: the reading at %v comes after the one at %v", ErrTrace, *r.T, p.last)
	}
	p.last = *r.T
	now := moment(*r.T)
	step := p.watch.Next(r.group(p.head, now), p.rules, now)
	for _, j := range step.Judgements {
		if err := p.out.Encode(p.said(*r.T, j)); err != nil {
			return fmt.Errorf("write a verdict: %w", err)
		}
	}
	return nil
}

// spoken is one line of the output.
type spoken struct {
	Trace     string  `json:"trace"`
	T         seconds `json:"t"`
	Topic     string  `json:"topic"`
	Partition int32   `json:"partition"`
	Verdict   Verdict `json:"verdict"`
	Scope     *Scope  `json:"scope"`
	Page      bool    `json:"page"`
	Since     seconds `json:"since"`
	Reason    string  `json:"reason"`
}

func (p *player) said(t float64, j Judgement) spoken {
	s := spoken{
		Trace: p.head.Trace, T: seconds(t), Topic: j.Topic, Partition: j.Number,
		Verdict: j.Verdict, Page: j.Page, Since: seconds(float64(j.Since.UnixMilli()) / 1000), Reason: j.Reason,
	}
	if j.Scope != NoScope {
		s.Scope = &j.Scope
	}
	return s
}

// seconds is a time of a history, written without a fraction where it has none.
type seconds float64

// MarshalJSON writes it in full, never with an exponent.
func (s seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(s), 'f', -1, 64), nil
}

func moment(t float64) time.Time { return time.UnixMilli(int64(math.Round(t * 1000))).UTC() }

// traceHead is the first line of a history. What else it says is not for us.
type traceHead struct {
	Trace    string           `json:"trace"`
	Group    string           `json:"group"`
	Source   string           `json:"source"`   // of what we recorded ourselves
	Protocol sources.Protocol `json:"protocol"` // of what we recorded ourselves
}

func (h *traceHead) read(text []byte) error {
	var is struct {
		traceHead
		T json.RawMessage `json:"t"`
	}
	if err := strict(text, &is); err != nil {
		return err
	}
	if is.T != nil {
		return fmt.Errorf("%w: the first line must name the trace and its group, and this is a reading", ErrTrace)
	}
	*h = is.traceHead
	return nil
}

// strict reads exactly one JSON object.
func strict(text []byte, into any) error {
	if text[0] != '{' {
		return fmt.Errorf("%w: every line must be a JSON object", ErrTrace)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%w: %w", ErrTrace, err)
	}
	return nil
}
