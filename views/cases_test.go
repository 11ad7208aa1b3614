package views

import (
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones of the cases, wherever this runs

	"golang.org/x/net/html"
)

// rowsOf is the text of each row of the table whose caption is given.
func rowsOf(t *testing.T, page, caption string) []string {
	t.Helper()
	var rows []string
	for n := range parse(t, page).Descendants() {
		if n.Data != "table" || !strings.HasPrefix(textOf(n), caption) {
			continue
		}
		for r := range n.Descendants() {
			if r.Type == html.ElementNode && r.Data == "tr" && r.Parent.Data == "tbody" {
				rows = append(rows, strings.Join(strings.Fields(textOf(r)), " "))
			}
		}
	}
	return rows
}

func letterWith(headers ...HeaderRow) LetterPage {
	p := letterPage()
	p.Headers = headers
	return p
}

func TestC01EqualHeadersAreAllThereInWireOrder(t *testing.T) {
	page := render(t, letterWith(
		HeaderRow{Name: "x-tag", Value: text("a")}, HeaderRow{Name: "other", Value: text("o")},
		HeaderRow{Name: "x-tag", Value: text("b")}, HeaderRow{Name: "x-tag", Value: text("a")},
	))
	got := rowsOf(t, page, "Headers in wire order")
	want := []string{"0x-taga1", "1othero1", "2x-tagb1", "3x-taga1"}
	if strings.ReplaceAll(strings.Join(got, "|"), " ", "") != strings.Join(want, "|") {
		t.Errorf("the rows are %q", got)
	}
}

func TestC02AHeaderThatRepeatsIsOneRowThatSaysSo(t *testing.T) {
	p := letterWith()
	p.Size = 88_055
	for range 2000 {
		p.Headers = append(p.Headers, HeaderRow{Name: "trace-id", Value: text("6f1d3f0e-5b1d-4a33-9c2a-0f2f4f5a6b7c")})
	}
	start := time.Now()
	page := render(t, p)
	if took := time.Since(start); took > time.Second {
		t.Errorf("the page took %v", took)
	}
	text := visibleText(t, page)
	for _, want := range []string{"2,000 headers", "trace-id × 2,000", "88 kB"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if n := len(rowsOf(t, page, "Headers in wire order")); n != 1 {
		t.Errorf("%d rows", n)
	}
	row := LetterRow{Size: 88_055, Headers: 2000}
	if got := row.weighs(); got != "88 kB, 2,000 headers" {
		t.Errorf("in a list it weighs %q", got)
	}
	plan := PlanLetter{Headers: 2000, Size: 88_055}
	if got := plan.headersSay(); !strings.Contains(got, "2,000 headers") {
		t.Errorf("the preview says %q", got)
	}
}

func TestC05NullEmptyAndTheWordNullAreThreeThings(t *testing.T) {
	got := rowsOf(t, render(t, letterWith(
		HeaderRow{Name: "a", Value: Bytes{Null: true}}, HeaderRow{Name: "b", Value: Bytes{}}, HeaderRow{Name: "c", Value: text("null")},
	)), "Headers in wire order")
	want := []string{"0anull", "1bempty (0 bytes)0", "2cnull4 bytes4"}
	for i := range want {
		if strings.ReplaceAll(got[i], " ", "") != strings.ReplaceAll(want[i], " ", "") {
			t.Errorf("row %d is %q, want %q", i, got[i], want[i])
		}
	}
}

func TestC06ATombstoneIsSaidToBeOne(t *testing.T) {
	page := causePage()
	page.Letters.Rows = []LetterRow{
		{ID: "l-1", Key: Bytes{Null: true}, Value: Bytes{Null: true}, Headers: 1},
		{ID: "l-2", Key: text("k"), Value: Bytes{}},
		{ID: "l-3", Key: text("k"), Value: text("null")},
	}
	rows := rowsOf(t, render(t, page), "Letters")
	for i, want := range []string{"null value (tombstone)", "empty (0 bytes)", "null"} {
		if !strings.Contains(rows[i], want) {
			t.Errorf("row %d says %q", i, rows[i])
		}
	}
	p := letterWith(HeaderRow{Name: "cmd", Value: text("purge")})
	p.Body = Body{Null: true}
	if text := visibleText(t, render(t, p)); !strings.Contains(text, "null value (tombstone)") || !strings.Contains(text, "purge") {
		t.Error("the page of a tombstone hides what it is, or its header")
	}
}

func TestC09BytesThatAreNoTextAreShownAndMarked(t *testing.T) {
	value := Bytes{Text: "{\"n\":\"\xc3(\xff\x00\x1b\"}", Size: 12, NotUTF8: true}
	page := causePage()
	page.Letters.Rows = []LetterRow{{ID: "l-1", Key: text("k"), Value: value}}
	row := rowsOf(t, render(t, page), "Letters")[0]
	for _, want := range []string{`{"n":"\xC3(\xFF␀␛"}`, "not UTF-8, 12 bytes"} {
		if !strings.Contains(row, want) {
			t.Errorf("the row is %q, want %q in it", row, want)
		}
	}
}

func TestC12APreviewThatIsCutSaysThatTheMessageIsComplete(t *testing.T) {
	text := visibleText(t, render(t, letterHuge()))
	for _, want := range []string{"first 16 kB of 10,485,760 bytes shown; the stored message is complete", "Show more of it"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(visibleText(t, render(t, letterPage())), "the stored message is complete") {
		t.Error("a body that is shown whole is said to be cut")
	}
}

func TestC15AMessageAboutAnErrorIsNoError(t *testing.T) {
	p := letterWith(HeaderRow{Name: "error", Value: text("1")})
	p.Body = Body{Size: 47, Shown: 47, Format: "JSON", Lines: []BodyLine{{Text: "{"}, {Indent: 1, Key: `"error"`, Text: `"card declined",`}, {Text: "}"}}, Raw: `{"error":"card declined"}`}
	page := render(t, p)
	if !strings.Contains(visibleText(t, page), "JSON, 47 bytes") || strings.Contains(page, `data-hue="stuck" role="alert"`) || strings.Contains(page, "could not be decoded") {
		t.Error("a message about an error is shown as one")
	}
}

func TestC96HoursRunFromZero(t *testing.T) {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	f := Frame{Zone: zone, Now: time.Date(2023, 1, 3, 0, 0, 0, 0, time.UTC)}
	at := time.UnixMilli(1672647300792)
	if got := f.write(at, exact); got != "2023-01-02 00:15:00.792 -08:00" {
		t.Errorf("it is %q", got)
	}
	if got := utc(at); got != "2023-01-02 08:15:00.792Z (UTC)" {
		t.Errorf("on hover %q", got)
	}
}

func TestC97AcrossSummerTimeAnInstantSaysItsOffset(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	f := Frame{Zone: zone, Now: time.Date(2026, 10, 25, 12, 0, 0, 0, zone)}
	for instant, want := range map[string]string{
		"2026-10-25T00:30:00Z": "02:30 +02:00", // the first of two
		"2026-10-25T01:30:00Z": "02:30",
		"2026-10-24T10:00:00Z": "Sat 24 Oct 12:00 +02:00",
		"2025-12-24T11:00:00Z": "Wed 24 Dec 2025 12:00",
	} {
		at, err := time.Parse(time.RFC3339, instant)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.write(at, clock); got != want {
			t.Errorf("%s is %q, want %q", instant, got, want)
		}
	}
	if got := f.write(f.Now, zoned); got != "12:00 CET" || f.label() != "CET" {
		t.Errorf("with its zone it is %q, the head of a table says %q", got, f.label())
	}
	f.Zone = time.FixedZone("", -3*3600)
	if got := f.label(); got != "UTC-03:00" {
		t.Errorf("a zone without a name is %q", got)
	}
}

func TestC98AnOddTimestampIsSaidToBeOdd(t *testing.T) {
	now := ist(10, 2, 49, 12)
	f := Frame{Zone: india, Now: now}
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.Time{}, "no timestamp"},
		{time.UnixMilli(0), "1970-01-01 05:30:00.000 +05:30 unusual"},
		{time.UnixMilli(1665014400), "1970-01-20 12:00:14.400 +05:30 looks like seconds: as seconds it is 2022-10-06"},
		{now.AddDate(10, 0, 0), "in the future"},
		{now.Add(-time.Hour), "2026-09-10 01:49:12.000 +05:30"},
	} {
		p := letterPage()
		p.Frame.Now, p.WrittenAt, p.Origin.At = f.Now, c.at, time.Time{}
		if text := visibleText(t, render(t, p)); !strings.Contains(strings.ReplaceAll(text, "Timestamp", ""), c.want) {
			t.Errorf("of %v the page does not say %q", c.at, c.want)
		}
	}
	if got := f.write(now.Add(time.Hour), age); got != "0 s" {
		t.Errorf("the age of what is in the future is %q", got)
	}
}

func TestC101ThereIsAlwaysAWayOnAndAWayBack(t *testing.T) {
	page := render(t, causePage())
	for _, want := range []string{`href="/causes/c-61?cursor=x" rel="next"`, `href="/causes/c-61">To the beginning`, "2 letters came since: show"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

func TestC109FiltersStandInTheAddressAndInTheForm(t *testing.T) {
	p := reviewPage()
	p.Query, p.Badge, p.Sources[1].Selected = "pay_7", "new", true
	page := render(t, p)
	for _, want := range []string{`name="q" placeholder="Words in the letters" value="pay_7"`, `<option value="ledger" selected>`, `name="badge" value="new"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the form has no %s", want)
		}
	}
	if strings.Contains(page, `method="get"`) && strings.Contains(page, `action="#"`) {
		t.Error("a filter that has no address")
	}
}

func TestVisibleTextHidesNothing(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                 "plain",
		"a\x00b\x1b[31m\r\n\tc": "a␀b␛[31m␍␊␉c",
		"\x7f\u0085":            "␡⟨U+0085⟩",
		"evil\u202egpj.exe":     "evil⟨U+202E⟩gpj.exe",
		"zero\u200bwidth\ufeff": "zero⟨U+200B⟩width⟨U+FEFF⟩",
		"\xc3(":                 `\xC3(`,
		"\ufffd":                "\ufffd",
		"नमस्ते ज़ि\u200dन्दगी": "नमस्ते ज़ि\u200dन्दगी",
		"👩\u200d💻":      "👩\u200d💻",
		"pay\u200dment": "pay⟨U+200D⟩ment",
		"\U000e0041tag": "⟨U+E0041⟩tag",
	} {
		if got := Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
	if got := VisibleLines("a\n\tb\r\n"); got != "a\n\tb␍\n" {
		t.Errorf("VisibleLines gives %q", got)
	}
}

func TestNumbersAndSpans(t *testing.T) {
	for got, want := range map[string]string{
		Number(Unknown): "unknown", Number(0): "0", Number(999): "999", Number(118204): "118,204", Number(1234567): "1,234,567",
		Size(1): "1 byte", Size(164): "164 bytes", Size(88_055): "88 kB", Size(10_485_760): "10.5 MB", Size(-1): "unknown size",
		Age(-time.Second): "0 s", Age(59 * time.Second): "59 s", Age(13 * time.Minute): "13 min", Age(158 * time.Minute): "2 h 38 min",
		Age(4*24*time.Hour + 6*time.Hour): "4 d 6 h", Age(48 * time.Hour): "2 d", keeps(0): "unknown ", keeps(-1): "for ever",
		Plural(1, "query"): "1 query", Plural(2, "query"): "2 queries", listed([]string{"a", "b", "c"}): "a, b and c", few([]string{"a", "b", "c"}, 2): "a, b and 1 more",
	} {
		if got != strings.TrimSpace(want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAStripSaysInWordsWhatItShows(t *testing.T) {
	for _, c := range []struct {
		cells []Cell
		want  string
	}{
		{cells(6, "head_of_line_stall", 3), "6 partitions: partition 3 head-of-line stall; 5 ok"},
		{cells(3, ""), "3 partitions: 3 ok"},
		{cells(2, "unknown", 0, 1), "2 partitions: 2 unknown"},
		{cells(1200, "stopped", 700, 701), "1,200 partitions: partitions 700 and 701 stopped; 1,198 ok"},
	} {
		if got := stripSays(c.cells); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	shown := shownCells(cells(1200, "stopped", 700, 701))
	if len(shown) != mostCells || shown[len(shown)-1].Name != "701" {
		t.Errorf("%d cells are shown, the last is %s: trouble must be among them", len(shown), shown[len(shown)-1].Name)
	}
}

func TestASparkHasAHoleWhereNothingWasRead(t *testing.T) {
	line := sparkLine([]int64{0, 10, Unknown, 20})
	if len(line) != 2 || fmt.Sprint(line) != "[0,22.5 34.7,12.5 104,2.5 104,2.5]" {
		t.Errorf("the line is %q", line)
	}
	if got := sparkSays([]int64{0, 10, Unknown, 20}); got != "Lag from 0 to 20, rising; not known at times" {
		t.Errorf("it says %q", got)
	}
}

func TestNothingIsSaidToBeWellWhileASourceIsUnread(t *testing.T) {
	if text := visibleText(t, render(t, nowLost())); strings.Contains(text, "Nothing is wedged") || !strings.Contains(text, "We cannot see ledger") {
		t.Error("the page says that all is well, or does not say what cannot be seen")
	}
	lag := lagPage()
	lag.Frame = downFrame(LagSection, "Lag")
	if text := visibleText(t, render(t, lag)); !strings.Contains(text, "We cannot see ledger") {
		t.Error("the lag page does not say that its readings are old")
	}
}

func TestAPlanIsStartedOnlyAsItIsShown(t *testing.T) {
	plan := render(t, planPage())
	for _, want := range []string{"Redrive these 37 letters", `name="plan" value="pl_0199"`, `name="confirm" value="returned_before" required`, "Leave these 2 out"} {
		if !strings.Contains(plan, want) {
			t.Errorf("the plan has no %s", want)
		}
	}
	if strings.Contains(render(t, planRefused()), `class="button button-main`) {
		t.Error("a plan with refused letters can be started")
	}
}

// TestWhatStandsIsNotCalledWell: a group that was stopped already pages nobody,
// and is not said to be well.
func TestWhatStandsIsNotCalledWell(t *testing.T) {
	now := nowClear()
	now.Watch = []WatchRow{{Source: "payments", Group: "old", Verdict: "stopped", Means: "No members.", Lag: 3}}
	text := visibleText(t, render(t, now))
	if strings.Contains(text, "Nothing is wedged") || !strings.Contains(text, "Nothing pages.") || !strings.Contains(text, "1 group is not well all the same") {
		t.Error("the page says that nothing is stopped above a group that is")
	}
}

// TestAHundredThousandDifferentHeadersAreNoPage: the first of them are shown, and
// how many more there are.
func TestAHundredThousandDifferentHeadersAreNoPage(t *testing.T) {
	letter := letterPage()
	letter.Headers = nil
	for i := range 100_000 {
		letter.Headers = append(letter.Headers, HeaderRow{Name: fmt.Sprint("h-", i), Value: text("1"), Fate: "kept"})
	}
	page := render(t, letter)
	if len(page) > 512<<10 || !strings.Contains(visibleText(t, page), "and 99,800 more headers") {
		t.Errorf("a page of %d bytes", len(page))
	}
}
