package convention

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// vector is one golden vector of the facts: a letter as a real framework
// writes it, and what must be read from it.
type vector struct {
	ID, Convention, Transport, Why string
	Record                         struct {
		Topic      string
		Partition  int32
		Offset     int64
		Timestamp  int64             `json:"timestamp_ms"`
		Key        *[]byte           `json:"key_b64"`
		Value      *[]byte           `json:"value_b64"`
		Headers    []headerVector    `json:"headers"`
		Queue      string            `json:"queue"`
		MessageID  string            `json:"message_id"`
		Body       []byte            `json:"body_b64"`
		System     map[string]string `json:"system_attributes"`
		Attributes []headerVector    `json:"message_attributes"`
	}
	Expect struct {
		Queue       *string                       `json:"original_topic"`
		Partition   *int32                        `json:"original_partition"`
		Offset      *int64                        `json:"original_offset"`
		Timestamp   *int64                        `json:"original_timestamp_ms"`
		Class       *string                       `json:"exception_class"`
		Root        *string                       `json:"root_cause_class"`
		Message     *string                       `json:"exception_message"`
		Attempts    *int                          `json:"attempts"`
		Group       *string                       `json:"consumer_group"`
		FailedAt    *int64                        `json:"failed_at_ms"`
		Reason      *string                       `json:"reason"`
		Redrive     *string                       `json:"redrive_target"`
		Payload     string                        `json:"payload_source"`
		Key         []byte                        `json:"redrive_key_b64"`
		Kept        []string                      `json:"headers_kept"`
		KeptSQS     []string                      `json:"attributes_kept"`
		FirstOrigin *firstOrigin                  `json:"first_origin"`
		Context     struct{ MaxReceiveCount int } `json:"context"`
	}
}

type headerVector struct {
	Name  string
	Value *[]byte `json:"value_b64"`
	Type  string  `json:"data_type"`
}

type firstOrigin struct {
	Topic     string
	Partition *int32
	Offset    *int64
	Group     string `json:"consumer_group"`
}

func (v vector) letter() *sources.DeadLetter {
	l := &sources.DeadLetter{Queue: v.Record.Topic + v.Record.Queue}
	headers := v.Record.Headers
	if v.Transport == "sqs" {
		l.Place.MessageID, l.Body, l.System = v.Record.MessageID, v.Record.Body, v.Record.System
		headers = v.Record.Attributes
		if most := v.Expect.Context.MaxReceiveCount; most > 0 { // as the adapter counts
			count, _ := strconv.Atoi(l.System["ApproximateReceiveCount"])
			count = min(count, most)
			l.Attempts = &count
		}
	} else {
		l.Timestamp = time.UnixMilli(v.Record.Timestamp).UTC()
		l.Place = sources.Place{Partition: v.Record.Partition, Offset: v.Record.Offset}
		l.Key, l.Body = bytesOf(v.Record.Key), bytesOf(v.Record.Value)
	}
	for _, h := range headers {
		l.Headers = append(l.Headers, sources.Header{Name: h.Name, Value: bytesOf(h.Value), Type: h.Type})
	}
	return l
}

func bytesOf(b *[]byte) []byte {
	if b == nil {
		return nil
	}
	return append([]byte{}, *b...)
}

func vectors(t *testing.T) []vector {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var out []vector
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGoldenVectors(t *testing.T) {
	all := vectors(t)
	if len(all) < 37 {
		t.Fatalf("only %d vectors", len(all))
	}
	for _, v := range all {
		t.Run(v.ID, func(t *testing.T) {
			l := v.letter()
			New(nil, nil).Recognise(l)
			if want := v.Convention; l.Convention != want && (want != "unknown" || l.Convention != "") {
				t.Errorf("convention %q, want %q (%s)", l.Convention, want, v.Why)
			}
			e := v.Expect
			same(t, "origin", said(l.Origin.Queue), e.Queue)
			same(t, "partition", l.Origin.Partition, e.Partition)
			same(t, "offset", l.Origin.Offset, e.Offset)
			same(t, "original timestamp", millis(l.Origin.Timestamp), e.Timestamp)
			same(t, "class", said(l.Reason.Class), e.Class)
			same(t, "root class", said(l.Reason.RootClass), e.Root)
			same(t, "message", said(l.Reason.Message), e.Message)
			same(t, "attempts", l.Attempts, e.Attempts)
			same(t, "group", said(l.Origin.Group), e.Group)
			same(t, "failed at", millis(l.FailedAt), e.FailedAt)
			same(t, "code", said(l.Reason.Code), e.Reason)
			same(t, "way back", said(l.RedriveTo), e.Redrive)
			checkBytes(t, v, l)
			checkFirst(t, e.FirstOrigin, l)
		})
	}
}

// checkBytes compares what a redrive keeps, and whether the body is the record.
func checkBytes(t *testing.T, v vector, l *sources.DeadLetter) {
	t.Helper()
	var kept []string
	for _, h := range l.Headers {
		if !slices.Contains(l.ErrorHeaders, h.Name) {
			kept = append(kept, h.Name)
		}
	}
	if want := slices.Concat(v.Expect.Kept, v.Expect.KeptSQS); !slices.Equal(kept, want) && len(kept)+len(want) > 0 {
		t.Errorf("kept %q, want %q", kept, want)
	}
	if want := v.Expect.Payload == "source-record"; l.NotTheOriginal != want {
		t.Errorf("not the original: %v, want %v", l.NotTheOriginal, want)
	}
	if string(l.OriginalKey) != string(v.Expect.Key) {
		t.Errorf("original key %q, want %q", l.OriginalKey, v.Expect.Key)
	}
}

func checkFirst(t *testing.T, want *firstOrigin, l *sources.DeadLetter) {
	t.Helper()
	if want == nil {
		if len(l.Earlier) > 0 {
			t.Errorf("earlier hops: %+v", l.Earlier)
		}
		return
	}
	if len(l.Earlier) == 0 {
		t.Fatal("no earlier hop")
	}
	first := l.Earlier[len(l.Earlier)-1]
	same(t, "first origin", &first.Queue, &want.Topic)
	same(t, "first partition", first.Partition, want.Partition)
	same(t, "first offset", first.Offset, want.Offset)
	same(t, "first group", said(first.Group), said(want.Group))
}

func said(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func millis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

func same[T comparable](t *testing.T, what string, got, want *T) {
	t.Helper()
	if got == nil && want == nil || got != nil && want != nil && *got == *want {
		return
	}
	show := func(p *T) any {
		if p == nil {
			return "unknown"
		}
		return *p
	}
	t.Errorf("%s: %v, want %v", what, show(got), show(want))
}
