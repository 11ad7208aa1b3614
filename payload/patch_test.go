package payload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func patched(t testing.TB, value, patch string) (string, error) {
	t.Helper()
	p, err := ParsePatch([]byte(patch))
	if err != nil {
		return "", err
	}
	out, err := p.Apply([]byte(value))
	return string(out), err
}

// TestAppendixAOfRFC6902 has its cases by their numbers. What we write keeps the
// spaces of the value, so the results are those of the appendix in our spacing.
func TestAppendixAOfRFC6902(t *testing.T) {
	for _, c := range []struct{ name, value, patch, want string }{
		{"A.1 adding an object member", `{ "foo": "bar"}`, `[{ "op": "add", "path": "/baz", "value": "qux" }]`, `{ "foo": "bar", "baz": "qux"}`},
		{"A.2 adding an array element", `{ "foo": [ "bar", "baz" ] }`, `[{ "op": "add", "path": "/foo/1", "value": "qux" }]`, `{ "foo": [ "bar", "qux", "baz" ] }`},
		{"A.3 removing an object member", `{ "baz": "qux", "foo": "bar" }`, `[{ "op": "remove", "path": "/baz" }]`, `{ "foo": "bar" }`},
		{"A.4 removing an array element", `{ "foo": [ "bar", "qux", "baz" ] }`, `[{ "op": "remove", "path": "/foo/1" }]`, `{ "foo": [ "bar", "baz" ] }`},
		{"A.5 replacing a value", `{ "baz": "qux", "foo": "bar" }`, `[{ "op": "replace", "path": "/baz", "value": "boo" }]`, `{ "baz": "boo", "foo": "bar" }`},
		{"A.6 moving a value", `{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}`, `[{ "op": "move", "from": "/foo/waldo", "path": "/qux/thud" }]`, `{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}`},
		{"A.7 moving an array element", `{ "foo": [ "all", "grass", "cows", "eat" ] }`, `[{ "op": "move", "from": "/foo/1", "path": "/foo/3" }]`, `{ "foo": [ "all", "cows", "eat", "grass" ] }`},
		{"A.8 testing a value", `{ "baz": "qux", "foo": [ "a", 2, "c" ] }`, `[{ "op": "test", "path": "/baz", "value": "qux" }, { "op": "test", "path": "/foo/1", "value": 2 }]`, `{ "baz": "qux", "foo": [ "a", 2, "c" ] }`},
		{"A.9 testing a value: error", `{ "baz": "qux" }`, `[{ "op": "test", "path": "/baz", "value": "bar" }]`, `test failed at /baz: it is "qux"`},
		{"A.10 adding a nested object", `{ "foo": "bar" }`, `[{ "op": "add", "path": "/child", "value": { "grandchild": { } } }]`, `{ "foo": "bar", "child": { "grandchild": { } } }`},
		{"A.11 ignoring unrecognised elements", `{ "foo": "bar" }`, `[{ "op": "add", "path": "/baz", "value": "qux", "xyz": 123 }]`, `{ "foo": "bar", "baz": "qux" }`},
		{"A.12 adding to a target that is not there", `{ "foo": "bar" }`, `[{ "op": "add", "path": "/baz/bat", "value": "qux" }]`, `the value has no /baz`},
		{"A.13 an invalid patch", `{ "foo": "bar" }`, `[{ "op": "add", "path": "/baz", "value": "qux", "op": "remove" }]`, `"op" is given twice`},
		{"A.14 ~ escapes", `{ "/": 9, "~1": 10 }`, `[{ "op": "test", "path": "/~01", "value": 10 }]`, `{ "/": 9, "~1": 10 }`},
		{"A.15 comparing strings and numbers", `{ "/": 9, "~1": 10 }`, `[{ "op": "test", "path": "/~01", "value": "10" }]`, `test failed at /~1: it is 10`},
		{"A.16 adding an array value", `{ "foo": ["bar"] }`, `[{ "op": "add", "path": "/foo/-", "value": ["abc", "def"] }]`, `{ "foo": ["bar",["abc", "def"]] }`},
	} {
		got, err := patched(t, c.value, c.patch)
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != c.want || err != nil && !strings.Contains(strings.ReplaceAll(got, "~01", "~1"), c.want) {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
}

func TestAPatchChangesNothingButTheBytesOfWhatItNames(t *testing.T) {
	for _, c := range []struct{ what, value, patch, want string }{
		{"C03: digits beyond 2^53, spaces, 1.10", `{ "id" :23958446825181076828,"d":1.10 , "e":1E400,"currency":"INRR"}`, `[{"op":"replace","path":"/currency","value":"INR"}]`, `{ "id" :23958446825181076828,"d":1.10 , "e":1E400,"currency":"INR"}`},
		{"bytes that are not UTF-8", "{\"a\":\"\xff\xfe\",\"b\":1}", `[{"op":"replace","path":"/b","value":2}]`, "{\"a\":\"\xff\xfe\",\"b\":2}"},
		{"escapes of others", `{"a":"\u00e9\/\ud800","b":1}`, `[{"op":"replace","path":"/b","value":2}]`, `{"a":"\u00e9\/\ud800","b":2}`},
		{"other names that are there twice", `{"a":1,"a":2,"b":1}`, `[{"op":"replace","path":"/b","value":2}]`, `{"a":1,"a":2,"b":2}`},
		{"a byte order mark", "\xef\xbb\xbf {\"b\":1}\r\n", `[{"op":"replace","path":"/b","value":2}]`, "\xef\xbb\xbf {\"b\":2}\r\n"},
		{"the frame of a registry", "\x00\x00\x00\x00\x2a{\"b\":1}", `[{"op":"replace","path":"/b","value":2}]`, "\x00\x00\x00\x00\x2a{\"b\":2}"},
		{"a name in escapes", `{"\u0062":1}`, `[{"op":"replace","path":"/b","value":2}]`, `{"\u0062":2}`},
		{"a value as it was given", `{"b":1}`, `[{"op":"replace","path":"/b","value": { "x" : 1.10 } }]`, `{"b":{ "x" : 1.10 }}`},
		{"null is a value", `{"b":1}`, `[{"op":"add","path":"/c","value":null}]`, `{"b":1,"c":null}`},
		{"into an empty object", `{ }`, `[{"op":"add","path":"/c","value":1}]`, `{"c":1 }`},
		{"into an empty array", `[]`, `[{"op":"add","path":"/0","value":1}]`, `[1]`},
		{"as others are laid out", "{\n  \"a\": 1,\n  \"b\": 2\n}", `[{"op":"add","path":"/c","value":3}]`, "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}"},
		{"the only one out", "{\n  \"a\": 1\n}", `[{"op":"remove","path":"/a"}]`, "{\n  \n}"},
		{"the last one out", "{\n  \"a\": 1,\n  \"b\": 2\n}", `[{"op":"remove","path":"/b"}]`, "{\n  \"a\": 1\n}"},
		{"the first one in", `[ 1, 2 ]`, `[{"op":"add","path":"/0","value":0}]`, `[ 0, 1, 2 ]`},
		{"a name with an empty text", `{"":1}`, `[{"op":"replace","path":"/","value":2}]`, `{"":2}`},
		{"a new name that needs escapes", `{}`, `[{"op":"add","path":"/a\"\u0001~1","value":2}]`, `{"a\"\u0001/":2}`},
		{"the whole", ` {"a":1} `, `[{"op":"replace","path":"","value":[1]}]`, ` [1] `},
		{"a bare number", `12`, `[{"op":"replace","path":"","value":13}]`, `13`},
		{"moved to where it is", `{"a": 1 ,"b":2}`, `[{"op":"move","from":"/a","path":"/a"}]`, `{"a": 1 ,"b":2}`},
		{"copied with its digits", `{"a": 1.10}`, `[{"op":"copy","from":"/a","path":"/b"}]`, `{"a": 1.10,"b": 1.10}`},
		{"tested as numbers are equal", `{"a":100.0,"b":-0}`, `[{"op":"test","path":"/a","value":1e2},{"op":"test","path":"/b","value":0},{"op":"test","path":"","value":{"b":0,"a":1E+2}}]`, `{"a":100.0,"b":-0}`},
	} {
		got, err := patched(t, c.value, c.patch)
		if err != nil || got != c.want {
			t.Errorf("%s:\n%q, %v, want\n%q", c.what, got, err, c.want)
		}
	}
}

func TestAPatchThatCannotBeMadeSaysWhy(t *testing.T) {
	replace := func(path string) string { return fmt.Sprintf(`[{"op":"replace","path":%q,"value":1}]`, path) }
	for _, c := range []struct{ what, value, patch, want string }{
		{"not there", `{"a":1}`, replace("/currency"), "replace /currency: the value has no /currency"},
		{"two operations", `{"a":1}`, `[{"op":"test","path":"/a","value":1},{"op":"remove","path":"/b"}]`, "operation 2, remove /b: the value has no /b"},
		{"twice there", `{"a":1,"\u0061":2}`, replace("/a"), "more than once"},
		{"twice there, to be added", `{"a":1,"a":2}`, `[{"op":"add","path":"/a","value":1}]`, "more than once"},
		{"inside a string", `{"a":"x"}`, replace("/a/b"), "there it is a string"},
		{"no number of an element", `[1]`, replace("/x"), "no number of an element"},
		{"a zero before", `[1,2]`, replace("/01"), "no number of an element"},
		{"behind the last", `[1]`, replace("/1"), "the value has no /1"},
		{"the dash is no element", `[1]`, replace("/-"), "the value has no /-"},
		{"too far behind", `[1]`, `[{"op":"add","path":"/2","value":1}]`, "the array has 1 element"},
		{"2^53 and one more", `{"a":9007199254740993}`, `[{"op":"test","path":"/a","value":9007199254740992}]`, "test failed at /a"},
		{"text", `hello`, replace("/a"), "the value is not JSON"},
		{"null", "", replace("/a"), "the value is not JSON: it is empty"},
		{"no list", `{}`, `{"op":"add"}`, "it is a list of operations"},
		{"an empty list", `{}`, `[]`, "no operation"},
		{"no JSON", `{}`, `[`, "it is not JSON"},
		{"no object", `{}`, `[1]`, "operation 1: it is not an object"},
		{"no op", `{}`, `[{"path":""}]`, "it has no op"},
		{"an op that there is not", `{}`, `[{"op":"set","path":""}]`, `op "set" is none of`},
		{"no path", `{}`, `[{"op":"remove"}]`, "it has no path"},
		{"a path without a slash", `{}`, replace("a"), "no JSON pointer"},
		{"a tilde alone", `{}`, replace("/a~"), "no JSON pointer"},
		{"no value", `{}`, `[{"op":"add","path":"/a"}]`, "add has no value"},
		{"no from", `{}`, `[{"op":"copy","path":"/a"}]`, "it has no from"},
		{"into itself", `{"a":{}}`, `[{"op":"move","from":"/a","path":"/a/b"}]`, "cannot be moved into itself"},
		{"the whole, removed", `{}`, `[{"op":"remove","path":""}]`, "cannot be removed"},
	} {
		got, err := patched(t, c.value, c.patch)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v, want %q", c.what, got, err, c.want)
		}
	}
}

func TestAPatchOfNullSaysSo(t *testing.T) {
	p, err := ParsePatch([]byte(`[{"op":"remove","path":"/a"}]`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Apply(nil); !errors.Is(err, ErrNotJSON) || !strings.Contains(err.Error(), "null") {
		t.Error(err)
	}
}

func TestCopiesOfCopiesEnd(t *testing.T) {
	ops := []string{`{"op":"add","path":"/a","value":"` + strings.Repeat("x", 1<<20) + `"}`}
	for i := range 40 {
		ops = append(ops, fmt.Sprintf(`{"op":"copy","from":"","path":"/%d"}`, i))
	}
	if _, err := patched(t, `{}`, "["+strings.Join(ops, ",")+"]"); err == nil || !strings.Contains(err.Error(), "would grow") {
		t.Error(err)
	}
}

// change is an operation for the reference.
type change struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	From  string          `json:"from,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// anyJSON draws JSON with names from a few, in any spacing, with all kinds of
// values that parsers like to change.
func anyJSON(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		space := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n\t"}).Draw(t, "space") }
		scalars := []string{"1.10", "9007199254740993", "-0", "1E400", `"\u00e9\/"`, "\"\xff\"", `"x"`, `""`, "true", "null", "23958446825181076828"}
		kind := rapid.IntRange(0, 3).Draw(t, "kind")
		if depth == 0 || kind > 1 {
			return rapid.SampledFrom(scalars).Draw(t, "scalar")
		}
		var parts []string
		for i := range rapid.IntRange(0, 4).Draw(t, "items") {
			item := anyJSON(depth-1).Draw(t, "item")
			if kind == 0 {
				item = fmt.Sprintf(`"%c"%s:%s%s`, 'a'+i, space(), space(), item)
			}
			parts = append(parts, space()+item+space())
		}
		if kind == 0 {
			return "{" + strings.Join(parts, ",") + "}"
		}
		return "[" + strings.Join(parts, ",") + "]"
	})
}

func drawChange(t *rapid.T) change {
	path := func(label string) string {
		var p string
		for range rapid.IntRange(0, 3).Draw(t, label+" depth") {
			p += "/" + rapid.SampledFrom([]string{"a", "b", "c", "0", "1", "-"}).Draw(t, label)
		}
		return p
	}
	c := change{Op: rapid.SampledFrom([]string{"add", "remove", "replace", "move", "copy", "test"}).Draw(t, "op"), Path: path("path")}
	switch c.Op {
	case "add", "replace", "test":
		c.Value = json.RawMessage(rapid.SampledFrom([]string{"1", `"new"`, `{ "n":1.10}`, "[ 9007199254740993 ]", "null"}).Draw(t, "value"))
	case "move", "copy":
		c.From = path("from")
	}
	return c
}

// TestAPatchDoesWhatDecodingAndEncodingWould holds the result against a patch of
// decoded values, which knows nothing of bytes.
func TestAPatchDoesWhatDecodingAndEncodingWould(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyJSON(3).Draw(t, "value")
		c := drawChange(t)
		patch, err := json.Marshal([]change{c})
		if err != nil {
			t.Fatal(err)
		}
		p, err := ParsePatch(patch)
		if err != nil {
			return // refused by itself: into itself, the whole removed
		}
		got, err := p.Apply([]byte(text))
		want, ok := reference(decoded(text), c)
		if (err == nil) != ok {
			t.Fatalf("%s of %s: %q, %v; the reference: %v %t", patch, text, got, err, want, ok)
		}
		if ok && !reflect.DeepEqual(decoded(string(got)), want) {
			t.Fatalf("%s of %s: %s, want %v", patch, text, got, want)
		}
	})
}

// TestBytesOutsideOfWhatIsNamedStay takes the value that was put in out again:
// what is around it must be what was around the old one.
func TestBytesOutsideOfWhatIsNamedStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(anyJSON(3).Draw(t, "value"))
		path, err := parsePointer(drawChange(t).Path)
		if err != nil {
			t.Fatal(err)
		}
		at, err := find(text, path)
		if err != nil {
			return
		}
		const mark = `"~mark~"`
		p := Patch{[]operation{{op: "replace", path: path, value: []byte(mark)}}}
		got, err := p.Apply(text)
		want := slices.Concat(text[:at.from], []byte(mark), text[at.to:])
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
		added := Patch{[]operation{{op: "add", path: append(slices.Clone(path), "zz"), value: []byte(mark)}}}
		if got, err = added.Apply(text); err != nil {
			return
		}
		removed := Patch{[]operation{{op: "remove", path: append(slices.Clone(path), "zz")}}}
		if back, err := removed.Apply(got); err != nil || !bytes.Equal(back, text) {
			t.Fatalf("%q with a member and without it again: %q, %v", text, back, err)
		}
	})
}

func decoded(text string) any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

// reference makes a change of decoded values, the plain way.
func reference(v any, c change) (any, bool) {
	path := strings.Split(c.Path, "/")[1:]
	if c.Path == "" {
		path = nil
	}
	switch c.Op {
	case "move", "copy":
		from := strings.Split(c.From, "/")[1:]
		if c.From == "" {
			from = nil
		}
		moved, ok := at(v, from)
		if !ok {
			return nil, false
		}
		moved = decoded(string(must(json.Marshal(moved))))
		if c.Op == "move" && c.From != c.Path {
			if v, ok = changed(v, from, "remove", nil); !ok {
				return nil, false
			}
		}
		return changed(v, path, "add", moved)
	case "test":
		is, ok := at(v, path)
		return v, ok && reflect.DeepEqual(is, decoded(string(c.Value)))
	case "remove":
		return changed(v, path, c.Op, nil)
	}
	return changed(v, path, c.Op, decoded(string(c.Value)))
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func at(v any, path []string) (any, bool) {
	for _, token := range path {
		switch c := v.(type) {
		case map[string]any:
			next, ok := c[token]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			n, err := strconv.Atoi(token)
			if err != nil || n >= len(c) {
				return nil, false
			}
			v = c[n]
		default:
			return nil, false
		}
	}
	return v, true
}

// changed is a value with one operation made at a path.
func changed(v any, path []string, op string, value any) (any, bool) {
	if len(path) == 0 {
		return value, op != "remove"
	}
	token, rest := path[0], path[1:]
	switch c := v.(type) {
	case map[string]any:
		old, there := c[token]
		switch {
		case len(rest) > 0:
			if !there {
				return nil, false
			}
			next, ok := changed(old, rest, op, value)
			c[token] = next
			return c, ok
		case op == "remove":
			delete(c, token)
			return c, there
		}
		c[token] = value
		return c, there || op == "add"
	case []any:
		n, err := strconv.Atoi(token)
		if token == "-" && op == "add" && len(rest) == 0 {
			n, err = len(c), nil
		}
		switch {
		case err != nil || n > len(c) || n == len(c) && (op != "add" || len(rest) > 0):
			return nil, false
		case len(rest) > 0:
			next, ok := changed(c[n], rest, op, value)
			c[n] = next
			return c, ok
		case op == "add":
			return slices.Insert(c, n, value), true
		case op == "remove":
			return slices.Delete(c, n, n+1), true
		}
		c[n] = value
		return c, true
	}
	return nil, false
}
