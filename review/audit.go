package review

import "time"

// AuditEntry says who did what, to what, and what came of it. Each effect has
// one, written in its transaction.
type AuditEntry struct {
	ID      string
	At      time.Time
	By      string // "unwedge" for what nobody asked for
	Action  string // redrive, discard, undo, delete, …
	On      string // id of a letter, a redrive or a discard
	Outcome string // in words
}

// AuditFilter selects entries; an empty field selects all.
type AuditFilter struct {
	By, Action, On string
}

// Audit is one page of the audit, newest first.
type Audit struct {
	Entries []AuditEntry
	Next    string
}
