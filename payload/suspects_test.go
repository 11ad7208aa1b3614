package payload

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// traffic are records of a busy topic: ids that never repeat, amounts that
// spread, a few currencies and merchants, a field that one in three has, a rare
// kind of event, two headers.
func traffic(from, n int, seed uint64) []Record {
	rng := rand.New(rand.NewPCG(seed, 7))
	out := make([]Record, n)
	for i := range out {
		at := time.Date(2026, 3, 2, 2, 30, 0, 0, time.UTC).Add(time.Duration(from+i) * 40 * time.Millisecond)
		note := ""
		if rng.IntN(3) == 0 {
			note = fmt.Sprintf(`,"note":"order %d"`, rng.IntN(1_000_000))
		}
		kind := "payment"
		if rng.IntN(40) == 0 {
			kind = "refund"
		}
		out[i] = Record{
			Offset: int64(from + i), Key: fmt.Appendf(nil, "pay_%08x", rng.Uint32()), At: at,
			Body: fmt.Appendf(nil, `{"type":"%s","payment_id":"pay_%08x","amount":%d.%02d,"currency":"%s","merchant":"mer_%03d","created":"%s"%s,"card":{"brand":"%s","last":"%04d","holder":"%s"}}`,
				kind, rng.Uint32(), rng.IntN(9000)+1, rng.IntN(100), []string{"INR", "INR", "INR", "USD", "EUR"}[rng.IntN(5)], rng.IntN(200), at.Format(time.RFC3339Nano), note,
				[]string{"visa", "rupay", "mastercard"}[rng.IntN(3)], rng.IntN(10000), strings.Repeat("x", 5+rng.IntN(20))),
			Headers: []Header{
				{"traceparent", fmt.Appendf(nil, "00-%016x%016x-01", rng.Uint64(), rng.Uint64())},
				{"producer", fmt.Appendf(nil, "checkout-%d", rng.IntN(4))},
			},
		}
	}
	return out
}

// binaryTraffic are records with a schema's id before their data.
func binaryTraffic(from, n int, seed uint64) []Record {
	out := traffic(from, n, seed)
	for i := range out {
		out[i].Body = registered(42, out[i].Body[40:90])
	}
	return out
}

func registered(schema uint32, data []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, schema), data...)
}

func textTraffic(from, n int, seed uint64) []Record {
	out := traffic(from, n, seed)
	for i := range out {
		out[i].Body = fmt.Appendf(nil, "order %d shipped to depot %d", 100_000+from+i, i%7)
	}
	return out
}

// spoil replaces a text of a body that must be there.
func spoil(old, by string) func(*Record) {
	return func(r *Record) {
		if !strings.Contains(string(r.Body), old) {
			panic("nothing to spoil: " + old)
		}
		r.Body = []byte(strings.Replace(string(r.Body), old, by, 1))
	}
}

// field sets one field of a body, whatever it had.
func field(name, value string) func(*Record) {
	return func(r *Record) {
		text := string(r.Body)
		from := strings.Index(text, `"`+name+`":`) + len(name) + 3
		to := from + strings.IndexAny(text[from:], ",}")
		r.Body = []byte(text[:from] + value + text[to:])
	}
}

// TestTheCulpritIsTheFirstSuspect: of 500 records the one that is bad comes
// first, wherever among them it lies, by what is bad about it.
func TestTheCulpritIsTheFirstSuspect(t *testing.T) {
	for name, c := range map[string]struct {
		of    func(from, n int, seed uint64) []Record
		spoil func(*Record)
		by    string // field of the first difference
	}{
		"an unknown value":             {traffic, field("currency", `"INRR"`), "currency"},
		"an unknown type of event":     {traffic, field("type", `"chargeback"`), "type"},
		"a missing field":              {traffic, spoil(`"type":"`, `"tipe":"`), "type"},
		"a missing object":             {traffic, spoil(`"card":{`, `"cart":{`), "card"},
		"a new field":                  {traffic, spoil(`"card":{`, `"card":{"pin":"1234",`), "card.pin"},
		"a number as text":             {traffic, field("amount", `"12.50"`), "amount"},
		"text as a number":             {traffic, field("payment_id", `12`), "payment_id"},
		"a null field":                 {traffic, field("merchant", `null`), "merchant"},
		"an object for a text":         {traffic, field("brand", `{"name":"visa"}`), "card.brand"},
		"no body":                      {traffic, func(r *Record) { r.Body = nil }, "body"},
		"an empty body":                {traffic, func(r *Record) { r.Body = []byte{} }, "body"},
		"a huge body":                  {traffic, spoil(`"holder":"`, `"holder":"`+strings.Repeat("y", 600_000)), "card.holder"},
		"a body of too many items":     {traffic, spoil(`"card":{`, `"card":{"tags":[`+strings.Repeat(`"t",`, 3000)+`"t"],`), "card.tags"},
		"a body of megabytes":          {traffic, spoil(`"holder":"`, `"holder":"`+strings.Repeat("y", 6<<20)), "body"},
		"a zero":                       {traffic, field("amount", `0`), "amount"},
		"another alphabet":             {traffic, spoil(`"payment_id":"pay`, `"payment_id":"pаy`), "payment_id"},
		"an empty text":                {traffic, field("payment_id", `""`), "payment_id"},
		"a text far too long":          {traffic, field("brand", `"`+strings.Repeat("v", 400)+`"`), "card.brand"},
		"not UTF-8 in a field":         {traffic, spoil(`"holder":"`, "\"holder\":\"\xc3\x28\xa0\xff"), "card.holder"},
		"not UTF-8 at all":             {textTraffic, spoil("shipped", "\xff\xfe\xc3\x28\xa0\xb1\xff\xff\xff\xff"), "body"},
		"a negative number":            {traffic, field("amount", `-5.00`), "amount"},
		"a number out of range":        {traffic, field("amount", `99999999999999.00`), "amount"},
		"a number too large by far":    {traffic, field("amount", `912345.12`), "amount"},
		"a number as an exponent":      {traffic, field("amount", `1e400`), "amount"},
		"invalid JSON":                 {traffic, spoil(`,"amount"`, `,"amount":,`), "body"},
		"JSON cut off":                 {traffic, func(r *Record) { r.Body = r.Body[:len(r.Body)/2] }, "body"},
		"text where JSON was":          {traffic, func(r *Record) { r.Body = []byte("Internal Server Error") }, "body"},
		"JSON where a text was":        {textTraffic, func(r *Record) { r.Body = []byte(`{"order":1}`) }, "body"},
		"an unknown schema id":         {binaryTraffic, func(r *Record) { r.Body = registered(77, r.Body[5:]) }, "schema id"},
		"no magic byte":                {binaryTraffic, func(r *Record) { r.Body = r.Body[5:] }, "body"},
		"a registry's bytes for JSON":  {traffic, func(r *Record) { r.Body = registered(42, r.Body) }, "body"},
		"an odd header":                {traffic, func(r *Record) { r.Headers = append(r.Headers, Header{"x-legacy", []byte("1")}) }, "header:x-legacy"},
		"an unknown value of a header": {traffic, func(r *Record) { r.Headers[1].Value = []byte("loadtest") }, "header:producer"},
		"a missing header":             {traffic, func(r *Record) { r.Headers = r.Headers[:1] }, "header:producer"},
		"a null header":                {traffic, func(r *Record) { r.Headers[1].Value = nil }, "header:producer"},
		"a header twice":               {traffic, func(r *Record) { r.Headers = append(r.Headers, r.Headers[1]) }, "header:producer"},
		"no key":                       {traffic, func(r *Record) { r.Key = nil }, "key"},
		"a key of another shape":       {traffic, func(r *Record) { r.Key = []byte(strings.Repeat("k", 300)) }, "key"},
		"a timestamp far behind":       {traffic, func(r *Record) { r.At = time.Date(1970, 1, 1, 0, 0, 1, 0, time.UTC) }, "timestamp"},
		"a timestamp far ahead":        {traffic, func(r *Record) { r.At = r.At.AddDate(30, 0, 0) }, "timestamp"},
		"a date that is none":          {traffic, field("created", `"0000-00-00"`), "created"},
	} {
		for _, where := range []int{0, 137, 499} {
			before, next := c.of(1000, 500, 1), c.of(1500, 500, 2)
			c.spoil(&next[where])
			got := Compare(before, next)
			switch {
			case len(got) == 0:
				t.Errorf("%s at %d: nothing is suspected", name, where)
			case got[0].Offset != next[where].Offset:
				t.Errorf("%s at %d: first is %+v of %d", name, where, got[0], len(got))
			case got[0].Apart[0].Field != c.by:
				t.Errorf("%s at %d: by %+v, want %s", name, where, got[0].Apart, c.by)
			}
		}
	}
}

// TestNothingIsInvented: of records like those before, none is suspected, or
// hardly any.
func TestNothingIsInvented(t *testing.T) {
	for name, of := range map[string]func(from, n int, seed uint64) []Record{"json": traffic, "registry": binaryTraffic, "text": textTraffic} {
		suspected := 0
		for seed := range uint64(20) {
			suspected += len(Compare(of(1000, 500, 2*seed+1), of(1500, 500, 2*seed+2)))
		}
		if suspected > 0 {
			t.Errorf("%s: %d of 10,000 records are suspected", name, suspected)
		}
	}
}
