package views

import "testing"

func TestHolder(t *testing.T) {
	for owner, want := range map[string]string{
		"retry-1 (retry-1-00221133a1fd)": "retry-1 (…3a1fd)",
		"retry-1 (retry-1-7)":            "retry-1 (retry-1-7)",
		"retry-1 (other-00221133a1fd)":   "retry-1 (other-00221133a1fd)",
		"only-a-member-00221133a1fd":     "only-a-member-00221133a1fd",
		"a (a-ééééé)":                    "a (a-ééééé)",
		"":                               "",
	} {
		if got := Holder(owner); got != want {
			t.Errorf("Holder(%q) is %q, want %q", owner, got, want)
		}
	}
}

func TestLongClassesBreak(t *testing.T) {
	long := breakable("org.springframework.kafka.listener.ListenerExecutionFailedException")
	if last := long[len(long)-1]; last != "Exception" {
		t.Errorf("a long class ends in %q", last)
	}
	if short := breakable("com.acme.InvalidCurrencyException"); len(short) != 3 {
		t.Errorf("a short name breaks into %q", short)
	}
}
