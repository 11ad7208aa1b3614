package sqs

import "time"

// SetNow gives a source another clock, for tests that move the server's.
func (s *Source) SetNow(now func() time.Time) { s.now = now }
