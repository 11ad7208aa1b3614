package kafka

import "time"

// SetQuiet says how long after a send its bytes may still land.
func (s *Source) SetQuiet(d time.Duration) { s.quiet = d }
