package views

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"
)

// hostile is what somebody who writes to our topics could put anywhere.
const hostile = "<script>alert(1)</script>\" onload='x' style=\"a\" \x00\x1b[31m\u202ecod\u200b\xff\r\n<img src=x onerror=alert(2)>javascript:alert(3)"

// TestForeignTextIsOnlyText fills every string of every page with markup and
// control characters, by reflection: a field that is added is covered.
func TestForeignTextIsOnlyText(t *testing.T) {
	for _, f := range fixtures() {
		for _, yes := range []bool{true, false} {
			page := reflect.New(reflect.TypeOf(f.page)).Elem()
			poison(page, yes)
			checkPage(t, f.name, render(t, page.Interface()))
		}
	}
}

// TestPagesAreWellFormed checks the pages of the story the same way, and that
// every control has a name.
func TestPagesAreWellFormed(t *testing.T) {
	for _, f := range fixtures() {
		page := render(t, f.page)
		checkPage(t, f.name, page)
		checkNames(t, f.name, parse(t, page))
	}
}

// poison fills a value in: strings hostile, lists with two entries, numbers and
// times with something.
func poison(v reflect.Value, yes bool) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostile)
	case reflect.Bool:
		v.SetBool(yes)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(7)
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*time.Location]() {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		poison(v.Elem(), yes)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		poison(v.Index(0), yes)
		poison(v.Index(1), !yes)
	case reflect.Array:
		for i := range v.Len() {
			poison(v.Index(i), yes)
		}
	case reflect.Struct:
		poisonStruct(v, yes)
	}
}

func poisonStruct(v reflect.Value, yes bool) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(ist(10, 2, 36, 9)))
		return
	}
	for i := range v.NumField() {
		switch name := v.Type().Field(i).Name; {
		case name == "BasePath" || name == "Static": // ours, from the configuration and the program
			v.Field(i).SetString("/ours")
		case name == "ID" || strings.HasSuffix(name, "ID"): // would be twice the same otherwise
			v.Field(i).SetString(hostile + v.Type().Name() + strings.Repeat("i", i))
		default:
			poison(v.Field(i), yes)
		}
	}
}

func parse(t *testing.T, page string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// checkPage fails for anything that the Content-Security-Policy would refuse,
// for bytes that nobody can see, and for ids that stand twice.
func checkPage(t *testing.T, name, page string) {
	t.Helper()
	for _, r := range page {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unseen(r) || r == unicode.ReplacementChar {
			t.Errorf("%s: the page has a raw %U", name, r)
			break
		}
	}
	ids := map[string]bool{}
	for n := range parse(t, page).Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if slices.Contains([]string{"style", "iframe", "img", "object", "embed", "base"}, n.Data) {
			t.Errorf("%s: the page has <%s>", name, n.Data)
		}
		if n.Data == "script" && (attribute(n, "src") == "" || n.FirstChild != nil) {
			t.Errorf("%s: an inline script", name)
		}
		for _, a := range n.Attr {
			checkAttribute(t, name, n.Data, a)
		}
		if id := attribute(n, "id"); id != "" && !strings.Contains(id, "alert") {
			if ids[id] && !strings.Contains(page, "alert(1)") { // poisoned lists repeat themselves
				t.Errorf("%s: id %q stands twice", name, id)
			}
			ids[id] = true
		}
	}
}

func checkAttribute(t *testing.T, name, element string, a html.Attribute) {
	t.Helper()
	if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
		t.Errorf("%s: <%s %s>", name, element, a.Key)
	}
	if !slices.Contains([]string{"href", "src", "action", "formaction"}, a.Key) || strings.HasPrefix(a.Val, "#") {
		return
	}
	address := strings.ToLower(a.Val)
	if strings.HasPrefix(address, "//") || !strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "https://") {
		t.Errorf("%s: <%s> leads to %q", name, element, a.Val)
	}
}

// checkNames fails for a control that a screen reader could not name.
func checkNames(t *testing.T, name string, root *html.Node) {
	t.Helper()
	labelled := map[string]bool{}
	for n := range root.Descendants() {
		if n.Data == "label" {
			labelled[attribute(n, "for")] = true
		}
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || attribute(n, "type") == "hidden" {
			continue
		}
		switch n.Data {
		case "input", "select", "textarea":
			if !labelled[attribute(n, "id")] && !within(n, "label") {
				t.Errorf("%s: <%s name=%q> has no label", name, n.Data, attribute(n, "name"))
			}
		case "button", "a", "summary":
			if strings.TrimSpace(textOf(n)) == "" {
				t.Errorf("%s: an empty <%s %v>", name, n.Data, n.Attr)
			}
		case "svg":
			if attribute(n, "role") == "img" && attribute(n, "aria-label") == "" {
				t.Errorf("%s: a figure without words", name)
			}
		}
	}
}

func within(n *html.Node, element string) bool {
	for p := range n.Ancestors() {
		if p.Data == element {
			return true
		}
	}
	return false
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// visibleText is what a reader sees, with white space as one blank.
func visibleText(t *testing.T, page string) string {
	return strings.Join(strings.Fields(textOf(parse(t, page))), " ")
}

func TestC110EveryAddressStaysUnderTheBasePath(t *testing.T) {
	for _, f := range fixtures() {
		page := reflect.New(reflect.TypeOf(f.page)).Elem()
		page.Set(reflect.ValueOf(f.page))
		page.FieldByName("Frame").FieldByName("BasePath").SetString("/ops/dlq")
		for n := range parse(t, render(t, page.Interface())).Descendants() {
			for _, a := range n.Attr {
				if slices.Contains([]string{"href", "src", "action", "formaction"}, a.Key) &&
					!strings.HasPrefix(a.Val, "/ops/dlq/") && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "https://") {
					t.Errorf("%s: <%s %s=%q> leaves the prefix", f.name, n.Data, a.Key, a.Val)
				}
			}
		}
	}
}

func TestAnAddressLeadsNowhereElse(t *testing.T) {
	f := Frame{}
	for path, want := range map[string]string{
		"/lag?group=a%2Fb":    "/lag?group=a%2Fb",
		"//evil.example.com":  "/evil.example.com",
		`/\evil.example.com`:  "/evil.example.com",
		"javascript:alert(1)": "/javascript:alert(1)",
		"/a b\x00\"":          "/a%20b%00%22",
	} {
		if got := string(f.URL(path)); got != want {
			t.Errorf("URL(%q) = %q, want %q", path, got, want)
		}
	}
}

// TestWhatComesLaterShowsNowhere: no button or page of a later issue.
func TestWhatComesLaterShowsNowhere(t *testing.T) {
	for _, f := range fixtures() {
		text := strings.ToLower(visibleText(t, render(t, f.page)))
		for _, word := range []string{"sign out", "sign in", "snooze until", "close the review"} {
			if strings.Contains(text, word) {
				t.Errorf("%s: the page says %q", f.name, word)
			}
		}
	}
}
