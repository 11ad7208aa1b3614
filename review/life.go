package review

import "time"

// Life is one redrive of a letter, or of one that it was before: what was sent,
// by whom, and what came of it.
type Life struct {
	Item
	By         string
	StartedAt  time.Time // when the redrive was started
	SentAt     time.Time // when the letter had arrived; zero: not yet, or not known
	ReturnedAt time.Time // when it was found to have come back; zero: it has not
}
