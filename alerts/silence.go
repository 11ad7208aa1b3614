package alerts

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/unwedge/unwedge/sources"
)

// Silence holds back the pages of incidents that it matches. It never holds back
// the end of what was told, and an incident that still stands when it is over is
// paged then. One that begins later is a maintenance window.
type Silence struct {
	ID     string
	Source string // patterns, as sources.Glob reads them
	Group  string
	Topic  string // of a dead-letter incident: its queue
	Reason string
	From   time.Time
	Until  time.Time
	By     string
	SetAt  time.Time
}

// everything is a pattern that matches every name.
const everything = "*"

// reasonCharacters is how long the reason of a silence may be.
const reasonCharacters = 1000

// ErrSilence is a silence that cannot be set; the text of what wraps it says
// which field is wrong.
var ErrSilence = errors.New("no such silence can be set")

// Valid completes a silence and tells what is wrong with it: patterns that are
// left out match everything, and it begins now unless it says when. Errors:
// ErrSilence.
func (s Silence) Valid(now time.Time) (Silence, error) {
	for _, p := range []*string{&s.Source, &s.Group, &s.Topic} {
		if *p == "" {
			*p = everything
		}
	}
	if s.From.IsZero() || s.From.Before(now) {
		s.From = now
	}
	s.Reason = strings.TrimSpace(s.Reason)
	switch {
	case s.Until.IsZero():
		return s, fmt.Errorf("%w: until is missing: say when it ends", ErrSilence)
	case !s.Until.After(now):
		return s, fmt.Errorf("%w: until is over already: %s", ErrSilence, s.Until.UTC().Format(time.RFC3339))
	case !s.Until.After(s.From):
		return s, fmt.Errorf("%w: it ends before it begins", ErrSilence)
	case utf8.RuneCountInString(s.Reason) > reasonCharacters:
		return s, fmt.Errorf("%w: reason is longer than %d characters", ErrSilence, reasonCharacters)
	}
	return s, nil
}

// Holds tells whether the silence holds back the page of an incident now: every
// line of it has to match, because what is not silenced is to be told.
func (s Silence) Holds(in Incident, now time.Time) bool {
	if now.Before(s.From) || !now.Before(s.Until) || !sources.Glob(s.Source, in.Source) || !sources.Glob(s.Group, in.Group) {
		return false
	}
	if len(in.Lines) == 0 {
		return sources.Glob(s.Topic, in.Queue)
	}
	for _, l := range in.Lines {
		if !sources.Glob(s.Topic, l.Topic) {
			return false
		}
	}
	return true
}

// HeldUntil is until when the page of an incident is held back by one silence
// after the other; the zero time when none holds it now.
func HeldUntil(in Incident, all []Silence, now time.Time) time.Time {
	at := now
	for again := true; again; {
		again = false
		for _, s := range all {
			if s.Holds(in, at) {
				at, again = s.Until, true
			}
		}
	}
	if at.Equal(now) {
		return time.Time{}
	}
	return at
}
