package review

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unwedge/unwedge/sources"
)

// letterToEdit is a letter of Kafka with all that an edit must not touch.
func letterToEdit() sources.DeadLetter {
	partition := int32(3)
	return sources.DeadLetter{
		Source: "payments", Queue: "orders.dlq", Place: sources.Place{TopicID: "t", Offset: 7}, Timestamp: time.UnixMilli(1000),
		Key: []byte("k"), Body: []byte(`{ "id":23958446825181076828 ,"currency":"INRR"}`),
		Headers: []sources.Header{
			head("x-tag", "a"), head("other", "o"), head("x-tag", "b"), head("x-tag", "a"),
			{Name: "a"},
			{Name: "b", Value: []byte{}},
			head("c", "null"), head("error", "it failed"), head("x-retry-count", "3"),
		},
		ErrorHeaders: []string{"error"}, Origin: sources.Origin{Queue: "orders", Partition: &partition},
	}
}

func patchOf(text string) *Edit { return &Edit{Patch: []byte(text)} }

// sentBy is a letter as it is sent by an edit, without our own headers, and the
// plan of its headers.
func sentBy(t *testing.T, l sources.DeadLetter, e *Edit) (sources.DeadLetter, HeaderPlan) {
	t.Helper()
	outgoing, p, err := Outgoing(l, e, []string{"x-retry-count"})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := AsPlanned(l, e, p, Lineage{"rd_1-1", "dl_1"})
	if err != nil {
		t.Fatal(err)
	}
	foreign := func(l sources.DeadLetter) []sources.Header {
		return slices.DeleteFunc(slices.Clone(l.Headers), func(h sources.Header) bool { return ours(h.Name) })
	}
	if diff := cmp.Diff(foreign(outgoing), foreign(sent)); diff != "" {
		t.Errorf("planned and sent headers differ: %s", diff)
	}
	if from, ok := LineageOf(sent.Headers); !ok || from.Item != "rd_1-1" {
		t.Errorf("the lineage is %v", from)
	}
	sent.Headers = foreign(sent)
	return sent, p
}

func TestWhatIsNotEditedIsSentAsItWas(t *testing.T) {
	l := letterToEdit()
	before := letterToEdit()
	kept := slices.Clone(l.Headers[:7])
	for what, c := range map[string]struct {
		edit    *Edit
		key     string
		body    string
		headers []sources.Header
	}{
		"no edit at all":          {nil, "k", string(l.Body), kept},
		"C03: a patch":            {patchOf(`[{"op":"replace","path":"/currency","value":"INR"}]`), "k", `{ "id":23958446825181076828 ,"currency":"INR"}`, kept},
		"the value":               {&Edit{Value: Replaced{true, []byte("by hand")}}, "k", "by hand", kept},
		"the key":                 {&Edit{Key: Replaced{true, []byte("k2")}}, "k2", string(l.Body), kept},
		"C01: a header set":       {&Edit{SetHeaders: []sources.Header{head("other", "new")}}, "k", string(l.Body), slices.Concat(kept[:1], []sources.Header{head("other", "new")}, kept[2:])},
		"C01: one of three":       {&Edit{SetHeaders: []sources.Header{head("x-tag", "z")}}, "k", string(l.Body), slices.Concat([]sources.Header{head("x-tag", "z")}, kept[1:2], kept[4:])},
		"a new header, to null":   {&Edit{SetHeaders: []sources.Header{{Name: "new"}}}, "k", string(l.Body), slices.Concat(kept, []sources.Header{{Name: "new"}})},
		"headers dropped":         {&Edit{DropHeaders: []string{"x-tag", "not there"}}, "k", string(l.Body), slices.Concat(kept[1:2], kept[4:])},
		"C05: the whole list":     {&Edit{Headers: &[]sources.Header{kept[6], kept[5], kept[4], head("b", "x")}}, "k", string(l.Body), []sources.Header{kept[6], kept[5], kept[4], head("b", "x")}},
		"no header at all":        {&Edit{Headers: &[]sources.Header{}}, "k", string(l.Body), []sources.Header{}},
		"the list as it was":      {&Edit{Headers: &l.Headers}, "k", string(l.Body), kept},
		"what a rule would drop":  {&Edit{SetHeaders: []sources.Header{head("error", "fixed"), head("x-retry-count", "0")}}, "k", string(l.Body), slices.Concat(kept, []sources.Header{head("error", "fixed"), head("x-retry-count", "0")})},
		"one of two in the list":  {&Edit{Headers: &[]sources.Header{kept[2]}}, "k", string(l.Body), kept[2:3]},
		"an error kept as it was": {&Edit{Headers: &[]sources.Header{l.Headers[7], kept[1]}}, "k", string(l.Body), kept[1:2]},
	} {
		sent, _ := sentBy(t, l, c.edit)
		if string(sent.Key) != c.key || string(sent.Body) != c.body {
			t.Errorf("%s: %q under %q", what, sent.Body, sent.Key)
		}
		if diff := cmp.Diff(c.headers, sent.Headers); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	if diff := cmp.Diff(before, l); diff != "" {
		t.Errorf("the letter itself was changed: %s", diff)
	}
}

// TestC06NullAndEmptyAreKeptApart in an edit, and in one that was stored.
func TestC06NullAndEmptyAreKeptApart(t *testing.T) {
	for what, e := range map[string]*Edit{
		"null":         {Value: Replaced{Is: true}, Key: Replaced{Is: true}, Headers: &[]sources.Header{{Name: "h"}}},
		"empty":        {Value: Replaced{true, []byte{}}, Key: Replaced{true, []byte{}}, Headers: &[]sources.Header{{Name: "h", Value: []byte{}}}},
		"the word":     {Value: Replaced{true, []byte("null")}, Key: Replaced{true, []byte("null")}, Headers: &[]sources.Header{head("h", "null")}},
		"no UTF-8":     {Value: Replaced{true, []byte("\xff")}, Key: Replaced{true, []byte("\xfe")}, Headers: &[]sources.Header{head("\xfd", "\xfc")}},
		"set, dropped": {SetHeaders: []sources.Header{head("\xfd", "\xfc"), {Name: "n"}}, DropHeaders: []string{"\xfb"}},
	} {
		text, err := json.Marshal(Options{Edit: e})
		if err != nil {
			t.Fatal(err)
		}
		var stored Options
		if err := json.Unmarshal(text, &stored); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, stored.Edit); diff != "" {
			t.Errorf("%s, stored: %s", what, diff)
		}
		sent, _ := sentBy(t, letterToEdit(), e)
		if e.Value.Is && (!sameBytes(sent.Body, e.Value.Bytes) || !sameBytes(sent.Key, e.Key.Bytes) || !sameBytes(sent.Headers[0].Value, (*e.Headers)[0].Value)) {
			t.Errorf("%s: %#v", what, sent)
		}
	}
}

func TestTheHeaderPlanTellsTheEdit(t *testing.T) {
	l := letterToEdit()
	_, p := sentBy(t, l, &Edit{SetHeaders: []sources.Header{head("x-tag", "z"), head("new", "n")}, DropHeaders: []string{"other"}})
	want := HeaderPlan{
		Kept:    []string{"a", "b", "c"},
		Dropped: []string{"x-tag", "other", "x-tag", "x-tag", "error", "x-retry-count"},
		Added:   []string{"x-tag", "new", LineageHeader, OriginalTimeHeader},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
}

// TestAnEditedKeyWins over the key of the convention and over the partition that
// the letter came from.
func TestAnEditedKeyWins(t *testing.T) {
	l := letterToEdit()
	l.Key, l.OriginalKey = []byte("data of the convention"), []byte("k")
	sent, _ := sentBy(t, l, &Edit{Key: Replaced{true, []byte("k2")}})
	if string(sent.Key) != "k2" || sent.OriginalKey != nil || sent.Origin.Partition != nil {
		t.Errorf("%q %q, partition %v", sent.Key, sent.OriginalKey, sent.Origin.Partition)
	}
	same, _ := sentBy(t, l, &Edit{Key: Replaced{true, []byte("k")}})
	if string(same.Key) != "k" || same.Origin.Partition == nil {
		t.Errorf("the same key again: %q, partition %v", same.Key, same.Origin.Partition)
	}
}

func TestAValueThatWasWrittenByHandIsNoDescription(t *testing.T) {
	l := letterToEdit()
	l.NotTheOriginal = true
	if sent, _ := sentBy(t, l, &Edit{Value: Replaced{true, []byte("x")}}); sent.NotTheOriginal {
		t.Error("it still counts as a description")
	}
	if sent, _ := sentBy(t, l, &Edit{DropHeaders: []string{"a"}}); !sent.NotTheOriginal {
		t.Error("another edit makes it the record")
	}
}

func TestAnEditThatMakesNoSenseIsRefused(t *testing.T) {
	many := patchOf(`[{"op":"remove","path":"/a"}]`)
	value := Replaced{true, []byte("x")}
	for _, c := range []struct {
		what    string
		edit    *Edit
		letters int
		says    string
	}{
		{"none", nil, 5, ""},
		{"a patch of many", many, 5, ""},
		{"a value of one", &Edit{Value: value}, 1, ""},
		{"empty", &Edit{}, 1, "changes nothing"},
		{"a value of two", &Edit{Value: value}, 2, "one letter only"},
		{"a key of two", &Edit{Key: value}, 2, "one letter only"},
		{"a list of two", &Edit{Headers: &[]sources.Header{}}, 2, "one letter only"},
		{"value and patch", &Edit{Value: value, Patch: many.Patch}, 1, "at the same time"},
		{"a list and more", &Edit{Headers: &[]sources.Header{}, DropHeaders: []string{"a"}}, 1, "whole list"},
		{"no patch", patchOf(`[{"op":"replace","path":"currency"}]`), 1, "JSON pointer"},
		{"ours", &Edit{SetHeaders: []sources.Header{head(LineageHeader, "x")}}, 1, "by Unwedge itself"},
		{"twice", &Edit{SetHeaders: []sources.Header{head("a", "x"), head("a", "y")}}, 1, "set twice"},
		{"set and dropped", &Edit{SetHeaders: []sources.Header{head("a", "x")}, DropHeaders: []string{"a"}}, 1, "at the same time"},
		{"too large", &Edit{Value: Replaced{true, make([]byte, MaxEdit+1)}}, 1, "16,777,216"},
	} {
		err := c.edit.Validate(c.letters)
		if (err == nil) != (c.says == "") || err != nil && (!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.what, err, c.says)
		}
	}
}

func TestALineageOfOnesOwnIsRefused(t *testing.T) {
	l := letterToEdit()
	l.Headers = append(l.Headers, head(LineageHeader, "rd_0-1 dl_0"))
	if sent, _ := sentBy(t, l, &Edit{Headers: &l.Headers}); len(sent.Headers) != 7 {
		t.Errorf("left as it was: %v", sent.Headers)
	}
	if _, err := (&Edit{Headers: &[]sources.Header{head(LineageHeader, "rd_9-1 dl_9")}}).Apply(l); err == nil {
		t.Error("a lineage that was made up goes")
	}
}

// TestAnEditedMessageFitsSQS, or is refused before it is sent.
func TestAnEditedMessageFitsSQS(t *testing.T) {
	attribute := func(name, kind, value string) sources.Header {
		return sources.Header{Name: name, Type: kind, Value: []byte(value)}
	}
	message := func(attributes int) sources.DeadLetter {
		l := sources.DeadLetter{Queue: "jobs-dlq", Place: sources.Place{MessageID: "m"}, Body: []byte(`{"a":1}`)}
		for i := range attributes {
			l.Headers = append(l.Headers, attribute(string(rune('a'+i)), "Number.int", "1"))
		}
		return l
	}
	for _, c := range []struct {
		what       string
		attributes int
		edit       *Edit
		says       string
		sent       []sources.Header
	}{
		{"the type stays", 1, &Edit{SetHeaders: []sources.Header{head("a", "2")}}, "", []sources.Header{attribute("a", "Number.int", "2")}},
		{"new text", 0, &Edit{SetHeaders: []sources.Header{head("n", "x")}}, "", []sources.Header{attribute("n", "String", "x")}},
		{"new bytes", 0, &Edit{SetHeaders: []sources.Header{head("n", "\xff")}}, "", []sources.Header{attribute("n", "Binary", "\xff")}},
		{"the list keeps its types", 2, &Edit{Headers: &[]sources.Header{head("b", "1"), head("n", "x")}}, "", []sources.Header{attribute("b", "Number.int", "1"), attribute("n", "String", "x")}},
		{"ten", 10, &Edit{SetHeaders: []sources.Header{head("a", "2")}}, "", nil},
		{"eleven", 10, &Edit{SetHeaders: []sources.Header{head("n", "2")}}, "at most 10 attributes", nil},
		{"a key", 0, &Edit{Key: Replaced{true, []byte("k")}}, "has no key", nil},
		{"a null value", 0, &Edit{Value: Replaced{Is: true}}, "null or empty", nil},
		{"an empty value", 0, &Edit{Value: Replaced{true, []byte{}}}, "null or empty", nil},
		{"bytes", 0, &Edit{Value: Replaced{true, []byte("\xff")}}, "is text", nil},
		{"a control character", 0, &Edit{Value: Replaced{true, []byte("a\x01")}}, "is text", nil},
		{"an empty attribute", 0, &Edit{SetHeaders: []sources.Header{head("n", "")}}, "null or empty", nil},
		{"bytes in a number", 1, &Edit{SetHeaders: []sources.Header{head("a", "\xff")}}, "is not text", nil},
		{"a name of Amazon's", 0, &Edit{SetHeaders: []sources.Header{head("AWS.x", "1")}}, "SQS takes names", nil},
		{"twice", 0, &Edit{Headers: &[]sources.Header{head("n", "1"), head("n", "2")}}, "there twice", nil},
	} {
		sent, _, err := Outgoing(message(c.attributes), c.edit, nil)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.what, err, c.says)
			continue
		}
		if c.sent != nil {
			if diff := cmp.Diff(c.sent, sent.Headers[:len(c.sent)]); diff != "" {
				t.Errorf("%s: %s", c.what, diff)
			}
		}
	}
}

func TestChangesAreWhatTheEditDid(t *testing.T) {
	l := letterToEdit()
	l.OriginalKey = []byte("k0")
	for what, c := range map[string]struct {
		edit *Edit
		want []Change
	}{
		"a patch":       {patchOf(`[{"op":"replace","path":"/currency","value":"INR"}]`), []Change{{What: ChangedValue, Path: "/currency", Old: Replaced{true, []byte(`"INRR"`)}, New: Replaced{true, []byte(`"INR"`)}}}},
		"nothing":       {patchOf(`[{"op":"test","path":"/currency","value":"INRR"}]`), nil},
		"a null value":  {&Edit{Value: Replaced{Is: true}}, []Change{{What: ChangedValue, Old: Replaced{true, l.Body}, New: Replaced{Is: true}}}},
		"the key":       {&Edit{Key: Replaced{Is: true}}, []Change{{What: ChangedKey, Old: Replaced{true, []byte("k0")}, New: Replaced{Is: true}}}},
		"header":        {&Edit{SetHeaders: []sources.Header{head("other", "x"), {Name: "new"}}, DropHeaders: []string{"a"}}, []Change{{What: ChangedHeader, Path: "other", Old: Replaced{true, []byte("o")}, New: Replaced{true, []byte("x")}}, {What: ChangedHeader, Path: "a", Old: Replaced{Is: true}}, {What: ChangedHeader, Path: "new", New: Replaced{Is: true}}}},
		"another order": {&Edit{Headers: backwards(l.Headers)}, []Change{{What: ChangedOrder}}},
	} {
		edited, err := c.edit.Apply(l)
		if err != nil {
			t.Fatal(err)
		}
		got, all := Changes(l, edited, 10)
		if diff := cmp.Diff(c.want, got); diff != "" || !all {
			t.Errorf("%s: %t %s", what, all, diff)
		}
	}
	long := strings.Repeat("x", 1000)
	l.Body = []byte(long + "old")
	edited, _ := (&Edit{Value: Replaced{true, []byte(long + "new")}}).Apply(l)
	if got, _ := Changes(l, edited, 10); got[0].At != 940 || !strings.HasSuffix(string(got[0].New.Bytes), "xnew") {
		t.Errorf("%+v", got)
	}
}

func backwards(headers []sources.Header) *[]sources.Header {
	list := slices.Clone(headers)
	slices.Reverse(list)
	return &list
}
