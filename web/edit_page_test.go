package web

import (
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// letterForTheForm is a letter with everything that a form can spoil.
func letterForTheForm(body, key []byte) review.Letter {
	h := func(name, value string) sources.Header { return sources.Header{Name: name, Value: []byte(value)} }
	return review.Letter{
		ID: "dl_form", Status: review.Open, CauseID: "ca_1", BodyKept: true, Size: int64(len(body)),
		DeadLetter: sources.DeadLetter{
			Source: "payments", Queue: "orders.dlq", Place: sources.Place{TopicID: "t", Offset: 1}, Key: key, Body: body,
			Headers: []sources.Header{
				h("x-tag", "a"), h("other", "o\r\n"), h("x-tag", "b"),
				{Name: "a"},
				{Name: "b", Value: []byte{}},
				h("c", "null"),
				h("bin", "\x00\x01\xff"), h("\xff", "name is no text"), h("error", "it failed"),
			},
			ErrorHeaders: []string{"error"},
		},
	}
}

var (
	textareas = regexp.MustCompile(`(?s)<textarea[^>]* name="([^"]*)"[^>]*>(.*?)</textarea>`)
	inputs    = regexp.MustCompile(`<input type="(?:text|hidden)"[^>]* name="([^"]*)" value="([^"]*)"`)
	selects   = regexp.MustCompile(`(?s)<select[^>]* name="([^"]*)".*?</select>`)
	selected  = regexp.MustCompile(`<option value="([^"]*)" selected`)
)

// fieldsIn is what a browser sends of a form that nobody touched: line breaks as
// CRLF, and without the first line break of each box.
func fieldsIn(page string) url.Values {
	v := url.Values{}
	for _, m := range textareas.FindAllStringSubmatch(page, -1) {
		v.Add(m[1], strings.ReplaceAll(strings.TrimPrefix(html.UnescapeString(m[2]), "\n"), "\n", "\r\n"))
	}
	for _, m := range inputs.FindAllStringSubmatch(page, -1) {
		v.Add(m[1], html.UnescapeString(m[2]))
	}
	for _, m := range selects.FindAllStringSubmatch(page, -1) {
		if s := selected.FindStringSubmatch(m[0]); s != nil {
			v.Add(m[1], s[1])
		}
	}
	return v
}

func postForm(s http.Handler, path string, v url.Values) (status int, page string) {
	a := ask(s, "POST", path, v.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	return a.Code, a.Body.String()
}

// TestC79AFormThatNobodyTouchedChangesNothing, however often it is opened.
func TestC79AFormThatNobodyTouchedChangesNothing(t *testing.T) {
	for what, body := range map[string][]byte{
		"JSON":                []byte(`{ "id":23958446825181076828, "note":"<&\"é"}`),
		"lines of all kinds":  []byte("\na\r\nb\rc\n\r\n"),
		"not UTF-8":           []byte("\xff\xfe{}"),
		"a control character": []byte("a\x00b"),
		"empty":               {},
		"null":                nil,
		"the word":            []byte("null"),
		"base64 in quotes":    []byte(`"eyJpZCI6MX0="`),
		"large":               []byte(strings.Repeat("x", mostBoxed+1)),
	} {
		w := story()
		w.letters = []review.Letter{letterForTheForm(body, body)}
		s := w.server(t)
		first := ask(s, "GET", "/letters/dl_form/edit", "").Body.String()
		if again := ask(s, "GET", "/letters/dl_form/edit", "").Body.String(); again != first {
			t.Errorf("%s: the form is another one the second time", what)
		}
		if status, page := postForm(s, "/letters/dl_form/edit", fieldsIn(first)); status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", what, status, page)
		}
		r := w.asked[len(w.asked)-1]
		if r.Edit != nil || len(r.IDs) != 1 || r.IDs[0] != "dl_form" {
			t.Errorf("%s: %+v", what, r.Edit)
		}
	}
}

// TestWhatIsChangedInAFormIsWhatIsEdited, and nothing besides.
func TestWhatIsChangedInAFormIsWhatIsEdited(t *testing.T) {
	l := letterForTheForm([]byte("one\r\ntwo\r\nthree\n"), []byte("k"))
	headers := func(change func([]sources.Header) []sources.Header) *[]sources.Header {
		list := change(append([]sources.Header{}, l.Headers...))
		return &list
	}
	value := func(s string) review.Replaced { return review.Replaced{Is: true, Bytes: []byte(s)} }
	for _, c := range []struct {
		what   string
		set    map[string]string
		want   *review.Edit
		status int
		says   string
	}{
		{"a line, in the ends of the others", map[string]string{"value": "one\r\n2\r\nthree\r\n"}, &review.Edit{Value: value("one\r\n2\r\nthree\n")}, 303, ""},
		{"a line more", map[string]string{"value": "one\r\ntwo\r\nand\r\nthree\r\n"}, &review.Edit{Value: value("one\r\ntwo\r\nand\r\nthree\n")}, 303, ""},
		{"the value, to null", map[string]string{"value-as": "null"}, &review.Edit{Value: review.Replaced{Is: true}}, 303, ""},
		{"the value, to empty", map[string]string{"value": "", "value-as": "empty"}, &review.Edit{Value: value("")}, 303, ""},
		{"the value, by base64", map[string]string{"value": "/w ==\r\n", "value-as": "base64"}, &review.Edit{Value: value("\xff")}, 303, ""},
		{"an empty box", map[string]string{"value": ""}, nil, 400, "its box is empty"},
		{"changed, and null", map[string]string{"value": "x", "value-as": "null"}, nil, 400, "choose one of them"},
		{"no base64", map[string]string{"value": "x", "value-as": "base64"}, nil, 400, "not base64"},
		{"the key", map[string]string{"key": "k2"}, &review.Edit{Key: value("k2")}, 303, ""},
		{"one header alone", map[string]string{"value-2": "B"}, &review.Edit{Headers: headers(func(h []sources.Header) []sources.Header { h[2].Value = []byte("B"); return h })}, 303, ""},
		{"null to empty", map[string]string{"as-3": "empty"}, &review.Edit{Headers: headers(func(h []sources.Header) []sources.Header { h[3].Value = []byte{}; return h })}, 303, ""},
		{"a name", map[string]string{"name-0": "y"}, &review.Edit{Headers: headers(func(h []sources.Header) []sources.Header { h[0].Name = "y"; return h })}, 303, ""},
		{"no name", map[string]string{"name-0": ""}, nil, 400, "has no name any more"},
		{"one left out", map[string]string{"drop-0": "yes"}, &review.Edit{Headers: headers(func(h []sources.Header) []sources.Header { return h[1:] })}, 303, ""},
		{"a new one", map[string]string{"new-name-1": "n", "new-value-1": "v"}, &review.Edit{Headers: headers(func(h []sources.Header) []sources.Header {
			return append(h, sources.Header{Name: "n", Value: []byte("v")})
		})}, 303, ""},
		{"a new one without a value", map[string]string{"new-name-1": "n"}, nil, 400, "its box is empty"},
		{"a new one without a name", map[string]string{"new-value-1": "v"}, nil, 400, "has no name"},
		{"ours", map[string]string{"new-name-1": review.LineageHeader, "new-value-1": "v"}, nil, 400, "by Unwedge itself"},
	} {
		w := story()
		w.letters = []review.Letter{l}
		s := w.server(t)
		v := fieldsIn(ask(s, "GET", "/letters/dl_form/edit", "").Body.String())
		for name, text := range c.set {
			v.Set(name, text)
		}
		status, page := postForm(s, "/letters/dl_form/edit", v)
		if status != c.status || !strings.Contains(html.UnescapeString(page), c.says) {
			t.Errorf("%s: %d %.2000s", c.what, status, page)
			continue
		}
		if c.status == http.StatusSeeOther {
			if diff := cmp.Diff(c.want, w.asked[0].Edit); diff != "" {
				t.Errorf("%s: %s", c.what, diff)
			}
			continue
		}
		for name, text := range c.set { // what was typed is still there
			if back := fieldsIn(page); !strings.HasPrefix(name, "drop") && oneLineBreak(back.Get(name)) != oneLineBreak(text) {
				t.Errorf("%s: %s is %q on the page that says so", c.what, name, back.Get(name))
			}
		}
	}
}

// TestC75ALetterIsSentDecodedOnlyWhenThatIsChosen, however deep it was quoted.
func TestC75ALetterIsSentDecodedOnlyWhenThatIsChosen(t *testing.T) {
	w := story()
	w.letters = []review.Letter{letterForTheForm([]byte(`"ImV5SnBaQ0k2TVgwPSI="`), nil)}
	s := w.server(t)
	page := ask(s, "GET", "/letters/dl_form/edit", "").Body.String()
	if !strings.Contains(page, "base64 inside a JSON string, 2 deep") {
		t.Error("the form does not say so")
	}
	v := fieldsIn(page)
	v.Set("value-as", "decoded")
	if status, page := postForm(s, "/letters/dl_form/edit", v); status != http.StatusSeeOther {
		t.Fatalf("%d %s", status, page)
	}
	if got := string(w.asked[0].Edit.Value.Bytes); got != `{"id":1}` {
		t.Errorf("%s", got)
	}
}

// TestC02AThousandHeadersAreEditedByName: a row for each would be no form.
func TestC02AThousandHeadersAreEditedByName(t *testing.T) {
	l := letterForTheForm([]byte("x"), nil)
	for range 2000 {
		l.Headers = append(l.Headers, sources.Header{Name: "trace-id", Value: []byte("0123")})
	}
	w := story()
	w.letters = []review.Letter{l}
	s := w.server(t)
	v := fieldsIn(ask(s, "GET", "/letters/dl_form/edit", "").Body.String())
	v.Set("drop", "trace-id")
	if status, page := postForm(s, "/letters/dl_form/edit", v); status != http.StatusSeeOther {
		t.Fatalf("%d %.500s", status, page)
	}
	if diff := cmp.Diff(&review.Edit{DropHeaders: []string{"trace-id"}}, w.asked[0].Edit); diff != "" {
		t.Error(diff)
	}
}

func TestManyLettersAreEditedByAPatch(t *testing.T) {
	for _, c := range []struct {
		what   string
		set    map[string]string
		want   *review.Edit
		status int
		says   string
	}{
		{"a value", map[string]string{"path-0": "/currency", "patch-0": `"INR"`}, &review.Edit{Patch: []byte(`[{"op":"replace","path":"/currency","value":"INR"}]`)}, 303, ""},
		{"as it was typed", map[string]string{"op-1": "add", "path-1": "/n", "patch-1": `{ "x": 1.10 }`}, &review.Edit{Patch: []byte(`[{"op":"add","path":"/n","value":{ "x": 1.10 }}]`)}, 303, ""},
		{"two", map[string]string{"op-0": "remove", "path-0": "/a", "op-1": "move", "path-1": "/b", "from-1": "/c"}, &review.Edit{Patch: []byte(`[{"op":"remove","path":"/a"},{"op":"move","path":"/b","from":"/c"}]`)}, 303, ""},
		{"headers", map[string]string{"new-name-0": "x", "new-value-0": "1", "drop": "y"}, &review.Edit{SetHeaders: []sources.Header{{Name: "x", Value: []byte("1")}}, DropHeaders: []string{"y"}}, 303, ""},
		{"nothing", nil, nil, 400, "othing was filled in"},
		{"text without quotes", map[string]string{"path-0": "/currency", "patch-0": "INR"}, nil, 400, `A text stands in quotes: "INR"`},
		{"no path", map[string]string{"patch-0": "1"}, nil, 400, "hange 1 has no path"},
		{"a path without a slash", map[string]string{"path-0": "currency", "patch-0": "1"}, nil, 400, "no JSON pointer"},
		{"ours", map[string]string{"new-name-0": review.LineageHeader, "new-value-0": "1"}, nil, 400, "by Unwedge itself"},
	} {
		w := story()
		s := w.server(t)
		id := w.causes[0].ID
		v := fieldsIn(ask(s, "GET", "/causes/"+id+"/edit", "").Body.String())
		for name, text := range c.set {
			v.Set(name, text)
		}
		status, page := postForm(s, "/causes/"+id+"/edit", v)
		if status != c.status || !strings.Contains(html.UnescapeString(page), c.says) {
			t.Errorf("%s: %d %.3000s", c.what, status, page)
			continue
		}
		if c.status == http.StatusSeeOther {
			if diff := cmp.Diff(c.want, w.asked[0].Edit); diff != "" || w.asked[0].Cause != id {
				t.Errorf("%s: %s, of cause %q", c.what, diff, w.asked[0].Cause)
			}
		}
	}
}

func TestTickedLettersAloneAreEdited(t *testing.T) {
	w := story()
	s := w.server(t)
	at := "/causes/" + w.causes[0].ID + "/edit"
	page := ask(s, "GET", at+"?letter=dl_json&letter=dl_2", "").Body.String()
	v := fieldsIn(page)
	v.Set("path-0", "/a")
	v.Set("patch-0", "1")
	if status, page := postForm(s, at, v); status != http.StatusSeeOther {
		t.Fatalf("%d %s", status, page)
	}
	if got := fmt.Sprint(w.asked[0].IDs, w.asked[0].Cause); got != "[dl_json dl_2]" || !strings.Contains(page, "Edit 2 letters") {
		t.Error(got)
	}
}

func TestTheEditOfARequest(t *testing.T) {
	b64 := base64.StdEncoding.EncodeToString
	for _, c := range []struct {
		text string
		want *review.Edit
		says string
	}{
		{`null`, nil, ""},
		{`{"value_base64":"` + b64([]byte("by hand")) + `"}`, &review.Edit{Value: review.Replaced{Is: true, Bytes: []byte("by hand")}}, ""},
		{`{"value_base64":null,"key_base64":""}`, &review.Edit{Value: review.Replaced{Is: true}, Key: review.Replaced{Is: true, Bytes: []byte{}}}, ""},
		{`{"headers":[]}`, &review.Edit{Headers: &[]sources.Header{}}, ""},
		{`{"headers":[{"name":"a","value_base64":null},{"name":"a","value_base64":""}]}`, &review.Edit{Headers: &[]sources.Header{{Name: "a"}, {Name: "a", Value: []byte{}}}}, ""},
		{`{"json_patch":[ {"op":"replace","path":"/a","value":1.10} ],"headers":{"set":[{"name":"x","value_base64":"eA=="}],"drop":["y"]}}`, &review.Edit{
			Patch: []byte(`[ {"op":"replace","path":"/a","value":1.10} ]`), SetHeaders: []sources.Header{{Name: "x", Value: []byte("x")}}, DropHeaders: []string{"y"},
		}, ""},
		{`{}`, nil, "changes nothing"},
		{`[]`, nil, "edit must be a JSON object"},
		{`{"value":"x"}`, nil, `unknown field "value"`},
		{`{"value_base64":"x","value_base64":"y"}`, nil, "given twice"},
		{`{"value_base64":"%%"}`, nil, "edit.value_base64 is not base64"},
		{`{"value_base64":1}`, nil, "edit.value_base64 must be base64"},
		{`{"headers":"x"}`, nil, "edit.headers must be"},
		{`{"headers":[{"name":"a"}]}`, nil, "edit.headers[0] has no value_base64"},
		{`{"headers":[{"name":null,"value_base64":""}]}`, nil, "edit.headers[0].name must be a string"},
		{`{"headers":[{"name":"a","text":"x","value_base64":""}]}`, nil, `unknown field "text"`},
		{`{"headers":{"set":[{"name":"unwedge-redrive","value_base64":""}]}}`, nil, "by Unwedge itself"},
		{`{"headers":{"remove":[]}}`, nil, `unknown field "remove"`},
		{`{"headers":{"drop":[1]}}`, nil, "edit.headers.drop must be"},
		{`{"json_patch":[{"op":"replace","path":"a","value":1}]}`, nil, "no JSON pointer"},
		{`{"json_patch":null}`, nil, "list of operations"},
		{`{"json_patch":[{"op":"remove","path":"/a"}],"value_base64":""}`, nil, "at the same time"},
	} {
		got, err := editOf([]byte(c.text))
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.text, err, c.says)
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" && err == nil {
			t.Errorf("%s: %s", c.text, diff)
		}
		if err != nil {
			if p, ok := asProblem(err); !ok || p.status != http.StatusBadRequest {
				t.Errorf("%s: %v", c.text, p)
			}
		}
	}
}

// TestAnEditMayHaveSixteenMegabytes, and anything else one.
func TestAnEditMayHaveSixteenMegabytes(t *testing.T) {
	w := story()
	s := w.server(t)
	body := func(n int) string {
		return `{"ids":["dl_json"],"dry_run":true,"edit":{"value_base64":"` + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", n))) + `"}}`
	}
	if a := ask(s, "POST", "/api/v1/redrives", body(11<<20)); a.Code != http.StatusOK {
		t.Errorf("%d %.300s", a.Code, a.Body)
	}
	if a := ask(s, "POST", "/api/v1/redrives", body(13<<20)); a.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %.300s", a.Code, a.Body)
	}
	if a := ask(s, "POST", "/api/v1/redrives", `{"ids":["`+strings.Repeat("x", mostBody)+`"]}`); a.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("without an edit: %d", a.Code)
	}
}
