package review

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/convention"
)

func head(name, value string) sources.Header {
	return sources.Header{Name: name, Value: []byte(value)}
}

func names(headers []sources.Header) (list []string) {
	for _, h := range headers {
		list = append(list, h.Name)
	}
	return list
}

func sentHeaders(t *testing.T, l sources.DeadLetter, p HeaderPlan, from Lineage) []sources.Header {
	t.Helper()
	sent, err := AsPlanned(l, nil, p, from)
	if err != nil {
		t.Fatal(err)
	}
	return sent.Headers
}

// TestC68FailureHeadersDoNotPileUp redrives a letter that was redriven before.
func TestC68FailureHeadersDoNotPileUp(t *testing.T) {
	l := sources.DeadLetter{
		Timestamp:    time.UnixMilli(2000),
		ErrorHeaders: []string{"kafka_dlt-exception-stacktrace"},
		Headers: []sources.Header{
			head("kafka_dlt-exception-stacktrace", "long"), head("tenant", "a"), head("kafka_dlt-exception-stacktrace", "longer"),
			head(LineageHeader, "rd_1-1 dl_1"), head(OriginalTimeHeader, "1000"), head("tenant", "b"),
		},
	}
	p := PlanHeaders(l, []string{"__mskr"})
	want := HeaderPlan{
		Kept:    []string{"tenant", "tenant"},
		Dropped: []string{"kafka_dlt-exception-stacktrace", "kafka_dlt-exception-stacktrace", LineageHeader, OriginalTimeHeader},
		Added:   []string{LineageHeader, OriginalTimeHeader},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	sent := sentHeaders(t, l, p, Lineage{"rd_2-1", "dl_2"})
	wantSent := []sources.Header{head("tenant", "a"), head("tenant", "b"), head(LineageHeader, "rd_2-1 dl_2"), head(OriginalTimeHeader, "1000")}
	if diff := cmp.Diff(wantSent, sent); diff != "" {
		t.Error(diff)
	}
	if from, ok := LineageOf(sent); !ok || from != (Lineage{"rd_2-1", "dl_2"}) {
		t.Errorf("%v %t", from, ok)
	}
}

// TestC70ConfiguredHeadersAreDropped, and only those.
func TestC70ConfiguredHeadersAreDropped(t *testing.T) {
	l := sources.DeadLetter{Headers: []sources.Header{head("__mskr", "x"), head("traceparent", "y"), head("tenant", "a")}}
	p := PlanHeaders(l, []string{"__mskr", "traceparent"})
	if got := names(sentHeaders(t, l, p, Lineage{"i", "l"})); !slices.Equal(got, []string{"tenant", LineageHeader}) {
		t.Errorf("%v", got)
	}
}

func TestTheTenthAttributeOfAMessageIsTheirs(t *testing.T) {
	for n, added := range map[int]bool{0: true, 9: true, 10: false} {
		l := sources.DeadLetter{Place: sources.Place{MessageID: "m"}, Timestamp: time.UnixMilli(1)}
		for i := range n {
			l.Headers = append(l.Headers, sources.Header{Name: fmt.Sprint(i), Value: []byte("v"), Type: "Binary"})
		}
		p := PlanHeaders(l, nil)
		sent := sentHeaders(t, l, p, Lineage{"i", "l"})
		if (len(p.Added) == 1) != added || (len(sent) == n+1) != added || len(sent) > 10 {
			t.Errorf("%d attributes: added %v, %d sent", n, p.Added, len(sent))
		}
		if added && sent[n].Type != "String" {
			t.Errorf("an attribute has a type: %+v", sent[n])
		}
	}
}

func TestALineageThatIsNotOursIsNone(t *testing.T) {
	for _, value := range []string{"", "x", " ", "x ", " y"} {
		if from, ok := LineageOf([]sources.Header{head(LineageHeader, value)}); ok {
			t.Errorf("%q: %+v", value, from)
		}
	}
}

func TestALetterIDIsStableAndSafeInAURL(t *testing.T) {
	base := sources.DeadLetter{Source: "payments", Queue: "q", Place: sources.Place{TopicID: "t", Partition: 1, Offset: 2}}
	seen := map[string]bool{LetterID(base): true}
	for _, change := range []func(*sources.DeadLetter){
		func(l *sources.DeadLetter) { l.Source = "ledger" },
		func(l *sources.DeadLetter) { l.Place.TopicID = "made again" },
		func(l *sources.DeadLetter) { l.Place.Partition = 12 },
		func(l *sources.DeadLetter) { l.Place.Offset = 3 },
		func(l *sources.DeadLetter) { l.Place = sources.Place{MessageID: "m"} },
		func(l *sources.DeadLetter) { l.Place, l.Queue = sources.Place{MessageID: "m"}, "other" },
	} {
		l := base
		change(&l)
		if id := LetterID(l); seen[id] {
			t.Errorf("%+v has the id of another", l.Place)
		} else {
			seen[id] = true
		}
	}
	l := base
	l.Body, l.System, l.Attempts = []byte("x"), map[string]string{"ApproximateReceiveCount": "9"}, new(int)
	if got := LetterID(l); got != LetterID(base) || got != "dl_"+got[3:] || len(got) != 27 {
		t.Errorf("%s, %s", got, LetterID(base))
	}
}

func TestTheKeyBeforeTheConventionGoesBack(t *testing.T) {
	for _, c := range []struct {
		key, original, want []byte
	}{
		{[]byte("k"), nil, []byte("k")},
		{nil, nil, nil},
		{[]byte{}, nil, []byte{}},
		{[]byte("meta"), []byte("k"), []byte("k")},
		{[]byte("meta"), []byte{}, nil},
	} {
		got := sources.DeadLetter{Key: c.key, OriginalKey: c.original}.RedriveKey()
		if string(got) != string(c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%q over %q: %#v", c.original, c.key, got)
		}
	}
}

// TestC69TheConsumerHasItsRetriesAgain: what counts attempts does not travel
// along; a counter that only its owner knows is named in the configuration.
func TestC69TheConsumerHasItsRetriesAgain(t *testing.T) {
	l := sources.DeadLetter{Queue: "orders-dlt", Headers: []sources.Header{
		head("tenant", "a"), head("retry_topic-attempts", "\x00\x00\x00\x05"), head("retry_topic-backoff-timestamp", "1"),
		head("retry_topic-original-timestamp", "1"), head("kafka_original-topic", "orders"), head("x-retries", "3"),
	}}
	convention.New(nil, nil).Recognise(&l)
	if p := PlanHeaders(l, []string{"x-retries"}); !slices.Equal(p.Kept, []string{"tenant"}) {
		t.Errorf("recognised as %q, kept %q, dropped %q", l.Convention, p.Kept, p.Dropped)
	}
	if p := PlanHeaders(l, nil); !slices.Equal(p.Kept, []string{"tenant", "x-retries"}) {
		t.Errorf("without a word of the owner: kept %q", p.Kept)
	}
}
