package views

// DiffView is what an edit makes of letters, before anything is sent.
type DiffView struct {
	Letters []LetterDiff // the first two hundred
	Total   int          // letters of the plan
}

// LetterDiff is what an edit makes of one letter.
type LetterDiff struct {
	ID      string
	Name    string // what a person calls it
	Because string // why it cannot be edited so; "" when it can
	Changes []DiffRow
	More    bool // there are more changes than are shown
}

// DiffRow is one thing that changes.
type DiffRow struct {
	What string // "value", "key", "header"
	Path string // JSON pointer or name; "" for the whole
	At   int    // where Old and New begin, in bytes; 0: at the start
	Old  DiffSide
	New  DiffSide
}

// DiffSide is the bytes before or after an edit.
type DiffSide struct {
	Is    bool // false: there is nothing of it
	Bytes Bytes
}

// says is what an edit does, in a sentence.
func (v DiffView) says() string {
	if v.Total == 1 {
		return "The letter itself stays as it is. Only the edited one is sent."
	}
	s := "The letters themselves stay as they are. Only the edited ones are sent."
	if n := v.Total - len(v.Letters); n > 0 {
		s += " Shown are the first " + number(len(v.Letters)) + " of " + number(v.Total) + "."
	}
	return s
}

// unchanged counts the letters that the edit leaves as they are.
func (v DiffView) unchanged() int {
	n := 0
	for _, l := range v.Letters {
		if l.Because == "" && len(l.Changes) == 0 {
			n++
		}
	}
	return n
}

// where is what changes, in words.
func (r DiffRow) where() string {
	if r.At > 0 {
		return r.What + ", from byte " + number(r.At) + " on"
	}
	return r.What
}
