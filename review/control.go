package review

// SettledAs is a person's word for a letter of which nobody could tell whether
// it arrived.
type SettledAs string

// What a person can say of it.
const (
	SettledSent    SettledAs = "sent"
	SettledNotSent SettledAs = "not_sent"
)
