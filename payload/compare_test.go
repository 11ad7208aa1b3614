package payload

import (
	"fmt"
	"strings"
	"testing"
)

// payments are records as a healthy producer writes them.
func payments(n int, body func(i int) string) []Record {
	out := make([]Record, n)
	for i := range out {
		out[i] = Record{
			Offset: int64(1000 + i), Key: fmt.Appendf(nil, "pay_%06d", i), Body: []byte(body(i)),
			Headers: []Header{{"traceparent", fmt.Appendf(nil, "00-%032x-01", i*7919)}, {"version", []byte("4.17.2")}},
		}
	}
	return out
}

func payment(i int) string {
	return fmt.Sprintf(`{"payment_id":"pay_%06d","amount":%d,"currency":"%s","card":{"holder":"Holder No %d","last":"%04d"}}`,
		i, 100+i*37, []string{"INR", "INR", "USD"}[i%3], i, i%10000)
}

func one(body string) Record {
	r := payments(1, func(int) string { return body })[0]
	r.Offset = 118204
	r.Key = []byte("pay_7Q2M4X")
	r.Headers[0].Value = []byte("00-ffffffffffffffffffffffffffffffff-01")
	return r
}

// apart is "field: value (usual)" of each difference.
func apart(sample []Record, r Record) []string {
	var out []string
	for _, d := range NewSample(sample).Apart(r) {
		out = append(out, fmt.Sprintf("%s: %s (%s)", d.Field, d.Value, d.Usual))
	}
	return out
}

func TestWhatSetsARecordApart(t *testing.T) {
	sample := payments(500, payment)
	plain := `{"payment_id":"pay_999999","amount":4242,"currency":"INR","card":{"holder":"Ann Onymous","last":"4242"}}`
	for name, c := range map[string]struct {
		body string
		want string // the first difference; "" for none
	}{
		"nothing":          {plain, ""},
		"an unseen value":  {strings.Replace(plain, `"INR"`, `"INRR"`, 1), `currency: "INRR" ("INR" in 334 of 500, "USD" in 166)`},
		"another type":     {strings.Replace(plain, `4242,`, `"4242",`, 1), `amount: string of 4 characters (number in 500 of 500)`},
		"a null":           {strings.Replace(plain, `"INR"`, `null`, 1), `currency: null (string in 500 of 500)`},
		"a missing field":  {strings.Replace(plain, `"currency":"INR",`, ``, 1), `currency: absent (in 500 of 500 records)`},
		"a missing object": {`{"payment_id":"pay_999999","amount":4242,"currency":"INR"}`, `card: absent (in 500 of 500 records)`},
		"a new field":      {strings.Replace(plain, `"last"`, `"pin":"1234","last"`, 1), `card.pin: string of 4 characters (absent in 500 records)`},
		"not JSON":         {plain[:40], `body: text (json in 500 of 500)`},
		"binary":           {"\xde\xad\xbe\xef\xff", `body: binary (json in 500 of 500)`},
		"an empty id":      {strings.Replace(plain, `"pay_999999"`, `""`, 1), `payment_id: string of 0 characters (characters: 10)`},
		"a negative":       {strings.Replace(plain, `4242,`, `-4242,`, 1), `amount: negative number of 5 characters (none negative in 500)`},
		"a long value":     {strings.Replace(plain, `"INR"`, `"`+strings.Repeat("I", 100)+`"`, 1), `currency: string of 100 characters ("INR" in 334 of 500, "USD" in 166)`},
	} {
		got := apart(sample, one(c.body))
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) == 0 || got[0] != c.want) {
			t.Errorf("%s: %q, want %q first", name, got, c.want)
		}
	}
}

func TestATombstoneAndHeadersSetApart(t *testing.T) {
	sample := payments(500, payment)
	r := one("")
	r.Body = nil
	if got := apart(sample, r); len(got) == 0 || got[0] != "body: null (json in 500 of 500)" {
		t.Errorf("%q", got)
	}
	r = one(payment(7))
	r.Headers[1].Value = []byte("4.18.0")
	if got := apart(sample, r); len(got) != 1 || got[0] != `header:version: "4.18.0" ("4.17.2" in 500 of 500)` {
		t.Errorf("%q", got)
	}
	r.Headers = r.Headers[:1]
	if got := apart(sample, r); len(got) != 1 || got[0] != `header:version: absent (in 500 of 500 records)` {
		t.Errorf("%q", got)
	}
}

// TestMaskingPromise7: of a field that sets a record apart, the value is told
// only when that field had few values in the sample, else its type and length.
func TestMaskingPromise7(t *testing.T) {
	for _, c := range []struct {
		values int
		want   string
	}{
		{50, `merchant: "mer_secret"`},
		{51, `merchant: string of 10 characters`},
	} {
		sample := payments(2000, func(i int) string { return fmt.Sprintf(`{"merchant":"mer_%06d"}`, i%c.values) })
		got := apart(sample, one(`{"merchant":"mer_secret"}`))
		if len(got) != 1 || !strings.HasPrefix(got[0], c.want) {
			t.Errorf("%d values: %q, want %s", c.values, got, c.want)
		}
	}
}

func TestMaskingLeaksNothingElse(t *testing.T) {
	secrets := []string{"4111111111111111", "Ann Onymous", "ann@example.com", "s3cr3t"}
	bodies := []string{
		`{"payment_id":4111111111111111,"amount":"Ann Onymous","currency":"INRR","card":{"holder":["Ann Onymous"],"last":"s3cr3t-and-much-longer"}}`,
		`{"payment_id":"p","amount":1,"currency":"INR","card":{"holder":"h","last":"1","4111111111111111":1,"ann@example.com":2}}`,
		`Ann Onymous 4111111111111111`,
		`{"note":"ann@example.com","deep":{"er":{"s3cr3t":"s3cr3t"}}}`,
	}
	for _, body := range bodies {
		for _, size := range []int{1, 2, 5, 60, 500} {
			for _, s := range Compare(payments(size, payment), []Record{one(body)}) {
				for _, d := range s.Apart {
					for _, secret := range secrets {
						if strings.Contains(d.Field+d.Value+d.Usual, secret) {
							t.Errorf("%s leaks by %+v", body, d)
						}
					}
				}
			}
		}
	}
}

func TestIdsAndKeysOfMapsAreNoNews(t *testing.T) {
	sample := payments(300, func(i int) string { return fmt.Sprintf(`{"id":"%d","by_user":{"user%c%d":{"n":1}}}`, i, 'a'+i%26, i) })
	if got := apart(sample, one(`{"id":"777777","by_user":{"userz9":{"n":1}}}`)); len(got) > 0 {
		t.Errorf("%q", got)
	}
	few := payments(3, func(i int) string { return fmt.Sprintf(`{"id":"%d"}`, i) })
	if got := apart(few, one(`{"id":"9"}`)); len(got) > 0 {
		t.Errorf("three ids say nothing about a fourth: %q", got)
	}
	if got := apart(nil, one(`{"id":"9"}`)); len(got) > 0 {
		t.Errorf("nothing is odd without a sample: %q", got)
	}
}

func TestWhatManyShareIsLessSuspicious(t *testing.T) {
	sample := payments(500, payment)
	candidates := payments(20, payment) // a new release, and one bad record in the middle
	for i := range candidates {
		candidates[i].Offset = int64(118204 + i)
		candidates[i].Headers[1].Value = []byte("4.18.0")
	}
	candidates[11].Body = []byte(strings.ReplaceAll(payment(0), `"INR"`, `"INRR"`))
	got := Compare(sample, candidates)
	if len(got) != 20 || got[0].Offset != 118215 || got[0].Apart[0].Field != "currency" || got[1].Offset != 118204 {
		t.Errorf("%+v", got[:2])
	}
}

func TestAnotherTypeOfEventThatWasSeenIsNotOdd(t *testing.T) {
	sample := payments(500, func(i int) string {
		if i%50 == 0 {
			return `{"type":"refund","refund_id":"r` + fmt.Sprint(i) + `"}`
		}
		return `{"type":"payment","payment_id":"p` + fmt.Sprint(i) + `"}`
	})
	for _, s := range Compare(sample, []Record{one(`{"type":"refund","refund_id":"r12"}`)}) {
		for _, d := range s.Apart {
			if d.Field == "type" || d.Field == "refund_id" {
				t.Errorf("%+v", d)
			}
		}
	}
}

func TestALargeBodyIsOddAndNeverTakenApart(t *testing.T) {
	got := apart(payments(50, payment), one(`{"currency":"`+strings.Repeat("x", 2<<20)+`"}`))
	if len(got) == 0 || !strings.Contains(strings.Join(got, "\n"), "body: 2,097,1") {
		t.Errorf("%.300q", got)
	}
}

func TestFieldsArePathsKindsAndExactValues(t *testing.T) {
	got := fmt.Sprint(Fields([]byte(`{"a":{"b.c":1.10,"d":[true,{"e":null}]},"":"x"}`)))
	want := `[{a object } {a."b.c" number 1.10} {a.d array } {a.d[] boolean true} {a.d[] object } {a.d[].e null null} {"" string x}]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for path, up := range map[string]string{"a": "", `a."b.c"`: "a", "a.d[]": "a.d", "a.d[].e": "a.d[]", `"x.y"`: ""} {
		if got := parent(path); got != up {
			t.Errorf("the parent of %s is %q", path, got)
		}
	}
	if deep := Fields([]byte(strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000))); len(deep) != maxDepth {
		t.Errorf("%d fields", len(deep))
	}
}

func BenchmarkCompare500With500(b *testing.B) {
	sample, candidates := payments(500, payment), payments(500, payment)
	for b.Loop() {
		Compare(sample, candidates)
	}
}
