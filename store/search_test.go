package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// searched are letters to be found, by what sets each apart.
func searched() []sources.DeadLetter {
	list := payments(0, 30)
	for i := range list {
		list[i].Body = fmt.Appendf(nil, `{"payment_id":"pay_%06d","amount_minor":%d,"currency":"INR"}`, i, 100+i)
		list[i].Headers = nil
		list[i].Key = fmt.Appendf(nil, "key-%d", i)
		list[i].Reason = sources.Reason{}
	}
	list[0].Body = []byte(`{"id":23958446825181076828,"max":9223372036854775807,"d":1.10,"e":1E400}`)
	list[1].Headers = []sources.Header{{Name: "x-tenant", Value: []byte("Acme Ltd")}, {Name: "region", Value: []byte("Süd")}}
	list[2].Reason = sources.Reason{Class: "com.acme.UnknownCurrency", Message: "currency INRR is not known"}
	list[3].Body = append([]byte{0xff, 0xfe}, []byte("naïve café\x00binary")...)
	return list
}

// TestSearchFindsWordsInARow holds before the letters are in the index, and
// after.
func TestSearchFindsWordsInARow(t *testing.T) {
	s := newStore(t)
	s.index.end() // the test says when
	ids := take(t, s, look(searched(), time.Now(), oneCause)).New
	check := func(when string) {
		for text, want := range map[string]int64{
			"23958446825181076828":       1, // C03: exact digits
			"23958446825181077504":       0,
			"1.10":                       1,
			"pay_000007":                 1,
			"pay_0000":                   28,
			"PAY_000007":                 1,
			`"currency":"INR"`:           28,
			"currency inr is not known":  0, // the middle words are whole
			"currency INRR is not kn":    1,
			"INRR currency":              0,
			"nothing like it":            0,
			"acme ltd":                   1,
			"acme":                       2,
			"tenant Acme":                0, // a name and its value are two texts
			"x-tenant":                   1,
			"Ltd region":                 0,
			"süd":                        1,
			"sud":                        0,
			"key-17":                     1,
			"key-1":                      11,
			"UnknownCurrency":            1,
			ids[5]:                       1,
			"naïve CAFÉ":                 1,
			"café binary":                1,
			"...":                        0,
			`" OR 1=1 --`:                0,
			`NEAR(pay currency)`:         0,
			"words : pay_000007":         0,
			"amount_minor":               28,
			"9223372036854775807 d 1 10": 1,
		} {
			page, err := s.Letters(t.Context(), review.Filter{Text: text}, 100, "")
			if err != nil || page.Total != want || int64(len(page.Letters)) != want {
				t.Errorf("%s: %q finds %d (total %d), want %d; %v", when, text, len(page.Letters), page.Total, want, err)
			}
		}
	}
	check("before the index")
	must(t, s.indexSome(t.Context()))
	if left, err := s.unindexed(t.Context()); err != nil || left != 0 {
		t.Fatalf("%d letters are left, %v", left, err)
	}
	check("in the index")
	take(t, s, look(payments(100, 3), time.Now(), oneCause))
	if page := letters(t, s, review.Filter{Text: "pay_0"}, 100, ""); page.Total != 31 {
		t.Errorf("index and new ones together: %d", page.Total)
	}
}

func TestLettersAreIndexedBehindTheirArrival(t *testing.T) {
	s := newStore(t)
	take(t, s, look(searched(), time.Now(), oneCause))
	eventually(t, "all letters are indexed", func() bool {
		left, err := s.unindexed(t.Context())
		must(t, err)
		return left == 0
	})
}
