package sources

import (
	"testing"
	"time"
)

func TestALinkIsFilledInAndEscaped(t *testing.T) {
	at := time.Date(2026, 3, 2, 21, 6, 0, 0, time.FixedZone("IST", 19800))
	r := Record{Topic: "a b&c", Partition: 3, Offset: 118204, Timestamp: at, Headers: []Header{{Name: "trace", Value: []byte("00-é/?#")}, {Name: "trace", Value: []byte("second")}}}
	for address, want := range map[string]string{
		"https://logs/?q={topic}+{partition}+{offset}": "https://logs/?q=a%20b%26c+3+118204",
		"https://logs/{header:trace}/{group}":          "https://logs/00-%C3%A9%2F%3F%23/g",
		"https://logs/?at={time}":                      "https://logs/?at=2026-03-02T15%3A36%3A00Z",
		"https://logs/{header:none}":                   "",
		"https://logs/plain":                           "https://logs/plain",
	} {
		l := Link{"logs", address}
		if err := l.Validate(); err != nil {
			t.Errorf("%s: %v", address, err)
		}
		got, ok := l.For(r.Subject("g"))
		if want == "" && ok || want != "" && got != want {
			t.Errorf("%s is %s, want %s", address, got, want)
		}
	}
	if at := (Links{{"a", "https://x/{offset}"}, {"b", "https://x/{group}"}}).For(Subject{Offset: -1, Group: "g"}); len(at) != 1 || at[0].Name != "b" {
		t.Errorf("what is not known is left out: %v", at)
	}
}

func TestALinkThatCannotBe(t *testing.T) {
	for _, l := range []Link{
		{"", "https://x"},
		{"a", ""},
		{"a", "x"},
		{"a", "ftp://x/"},
		{"a", "javascript:alert(1)//x"},
		{"a", "https://{topic}/"},
		{"a", "https://x/{offfset}"},
		{"a", "https://x/{offset"},
		{"a", "https://x/{header:}"},
		{"a", "https://x/{}"},
		{"a", "https:///x"},
	} {
		if err := l.Validate(); err == nil {
			t.Errorf("%+v is taken", l)
		}
	}
}
