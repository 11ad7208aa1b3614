package store

import (
	"errors"
	"testing"
	"time"
)

func TestAnIdempotencyKeyIsRememberedForADay(t *testing.T) {
	s := newStore(t)
	now := time.Now()
	if _, known, err := s.Remember(t.Context(), "asha", "/api/v1/redrives", "k", "hash", now); known || err != nil {
		t.Fatalf("%t, %v", known, err)
	}
	if a, known, err := s.Remember(t.Context(), "asha", "/api/v1/redrives", "k", "hash", now); !known || a.Status != 0 || err != nil {
		t.Errorf("still running: %+v, %t, %v", a, known, err)
	}
	must(t, s.Answered(t.Context(), "asha", "/api/v1/redrives", "k", Answer{202, []byte("{}")}))
	if a, known, err := s.Remember(t.Context(), "asha", "/api/v1/redrives", "k", "hash", now.Add(23*time.Hour)); !known || a.Status != 202 || string(a.Body) != "{}" || err != nil {
		t.Errorf("%+v, %t, %v", a, known, err)
	}
	if _, _, err := s.Remember(t.Context(), "asha", "/api/v1/redrives", "k", "other", now); !errors.Is(err, ErrOtherBody) {
		t.Errorf("%v", err)
	}
	for _, other := range [][3]string{{"ravi", "/api/v1/redrives", "k"}, {"asha", "/api/v1/skips", "k"}, {"asha", "/api/v1/redrives", "l"}} {
		if _, known, err := s.Remember(t.Context(), other[0], other[1], other[2], "hash", now); known || err != nil {
			t.Errorf("%v: %t, %v", other, known, err)
		}
	}
	if _, known, err := s.Remember(t.Context(), "asha", "/api/v1/redrives", "k", "hash", now.Add(25*time.Hour)); known || err != nil {
		t.Errorf("after a day: %t, %v", known, err)
	}
}
