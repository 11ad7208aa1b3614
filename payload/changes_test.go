package payload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestChangesNameWhatDiffers(t *testing.T) {
	at := func(path, old, now string) Change {
		c := Change{Path: path}
		if old != "" {
			c.Old = []byte(old)
		}
		if now != "" {
			c.New = []byte(now)
		}
		return c
	}
	for _, c := range []struct {
		what, old, now string
		want           []Change
	}{
		{"nothing", `{"a":1}`, `{"a":1}`, nil},
		{"a value", `{ "currency":"INRR", "n":1}`, `{ "currency":"INR", "n":1}`, []Change{at("/currency", `"INRR"`, `"INR"`)}},
		{"digits", `{"n":1.10}`, `{"n":1.1}`, []Change{at("/n", "1.10", "1.1")}},
		{"in, out, deep", `{"a":{"b/c":1},"x":1}`, `{"a":{"b/c":2},"y":[]}`, []Change{at("/a/b~1c", "1", "2"), at("/x", "1", ""), at("/y", "", "[]")}},
		{"an element out", `[1,2,3,4]`, `[1,3,4]`, []Change{at("/1", "2", "")}},
		{"an element in", `["a","b"]`, `["a","x","b"]`, []Change{at("/1", "", `"x"`)}},
		{"another kind", `{"a":[]}`, `{"a":{}}`, []Change{at("/a", "[]", "{}")}},
		{"order alone", `{"a":1,"b":2}`, `{"b":2,"a":1}`, []Change{at("", `{"a":1,"b":2}`, `{"b":2,"a":1}`)}},
		{"spaces around", `1`, ` 1`, []Change{at("", "1", " 1")}},
		{"the second of a name", `{"a":1,"a":2}`, `{"a":1,"a":3}`, []Change{at("/a", "2", "3")}},
		{"behind a frame", "\x00\x00\x00\x00\x01{\"a\":1}", "\x00\x00\x00\x00\x01{\"a\":2}", []Change{at("/a", "1", "2")}},
	} {
		got, all, ok := Changes([]byte(c.old), []byte(c.now), 10)
		if diff := cmp.Diff(c.want, got); diff != "" || !all || !ok {
			t.Errorf("%s: %t %t %s", c.what, all, ok, diff)
		}
	}
	if got, all, ok := Changes([]byte(`[1,2,3,4]`), []byte(`[5,6,7,8]`), 2); len(got) != 2 || all || !ok {
		t.Errorf("two of four: %v %t", got, all)
	}
	for _, b := range [][2]string{{"x", `{}`}, {`{}`, ""}, {"\xef\xbb\xbf{}", "{}"}} {
		if _, _, ok := Changes([]byte(b[0]), []byte(b[1]), 2); ok {
			t.Errorf("%q and %q are compared as JSON", b[0], b[1])
		}
	}
}

// TestNoChangeGoesUnsaid: two values that are not the same bytes differ somewhere.
func TestNoChangeGoesUnsaid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, now := anyJSON(3).Draw(t, "old"), anyJSON(3).Draw(t, "now")
		list, _, ok := Changes([]byte(old), []byte(now), 1000)
		if !ok || (len(list) == 0) != (old == now) {
			t.Fatalf("%q and %q: %v %t", old, now, list, ok)
		}
	})
}
