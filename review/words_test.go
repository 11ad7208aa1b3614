package review

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                 nil,
		"...":                              nil,
		`{"currency":"INR"}`:               {"currency", "inr"},
		"pay_000007":                       {"pay", "000007"},
		"1.10 1E400":                       {"1", "10", "1e400"},
		"23958446825181076828":             {"23958446825181076828"},
		"Süd-Öst":                          {"süd", "öst"},
		"naïve\xffcafé":                    {"naïve", "café"},
		"支付失败 x":                           {"支付失败", "x"},
		"a\x00b":                           {"a", "b"},
		"e\u0301te":                        {"e\u0301te"},
		"\ue000":                           nil,
		strings.Repeat("a", 300):           {strings.Repeat("a", 128)},
		"x" + strings.Repeat("é", 100):     {"x" + strings.Repeat("é", 63)},
		"com.acme.Payments$Parser.parse()": {"com", "acme", "payments", "parser", "parse"},
	} {
		if got := Words([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
}

func TestWordsAreAlwaysText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, w := range Words(rapid.SliceOf(rapid.Byte()).Draw(t, "text")) {
			if w == "" || len(w) > 3*maxWord || !utf8.ValidString(w) || !HasWords(Words([]byte(w)), []string{w}) {
				t.Fatalf("%q", w)
			}
		}
	})
}

func TestHasWords(t *testing.T) {
	text := []string{"payment", "pay", "000007", "currency", "inr", "is", "not", "known"}
	for _, c := range []struct {
		wanted string
		want   bool
	}{
		{"pay 000007", true},
		{"pay 0000", true},
		{"pa 000007", false},
		{"inr is not kn", true},
		{"known payment", false},
		{"is known", false},
		{"known", true},
		{"known x", false},
		{"", true},
	} {
		if got := HasWords(text, Words([]byte(c.wanted))); got != c.want {
			t.Errorf("%q: %t", c.wanted, got)
		}
	}
}
