package sources

import "testing"

func TestGlobMatchesTheWholeName(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"orders", "orders", true},
		{"orders", "orders-dlt", false},
		{"orders", "my.orders", false},
		{"*.dlq", "payment.events.dlq", true},
		{"*.dlq", ".dlq", true},
		{"*.dlq", "dlq", false},
		{"orders?", "ordersX", true},
		{"orders?", "orders", false},
		{"*", "", true},
		{"", "", true},
		{"", "x", false},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "a-c-b", false},
		{"*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
		{"^(?!__).*$", "orders", false},
		{"zahlung-?", "zahlung-ü", true},
	} {
		if got := Glob(c.pattern, c.name); got != c.want {
			t.Errorf("Glob(%q, %q) = %v, want %v", c.pattern, c.name, got, c.want)
		}
	}
}

func TestPatternsWithoutIncludeSelectNothing(t *testing.T) {
	if (Patterns{Exclude: []string{"x"}}).Match("orders") {
		t.Error("nothing was included, and orders was selected")
	}
	p := Patterns{Include: []string{"*"}, Exclude: []string{"console-consumer-*"}}
	if !p.Match("orders") || p.Match("console-consumer-1") {
		t.Error("an exclude did not win over an include")
	}
}

func TestC121RegularExpressionsAreNoticed(t *testing.T) {
	if !LooksLikeRegexp("^(?!__).*$") || LooksLikeRegexp("payment.*") == LooksLikeRegexp("payment-*") {
		t.Error("a regular expression was not told from a glob")
	}
}
