package views

import "time"

// Life is one redrive of a letter, or of one that it was before.
type Life struct {
	LetterID   string // of the one that it was then; "": this letter
	Redrive    string
	By         string
	At         time.Time
	Target     string
	State      string // of the letter in that redrive
	Error      string
	CameBackAs string // id of the letter that it came back as
	ReturnedAt time.Time
}

// moments are what happened in some lives, one after the other.
func moments(lives []Life) []Moment {
	var out []Moment
	for _, l := range lives {
		out = append(out, l.moment())
		if l.CameBackAs != "" {
			out = append(out, l.returned())
		}
	}
	return out
}

// moment is how a letter was redriven, and what is known of it since.
func (l Life) moment() Moment {
	m := Moment{At: l.At, Mark: l.State, Text: "Redriven to " + l.Target, Link: &Link{Text: "the redrive", Href: Path("redrives", l.Redrive)}}
	if l.By != "" {
		m.Text += " by " + l.By
	}
	m.Text += ":"
	m.More = sentence(l.Error)
	if l.CameBackAs != "" {
		m.Mark = "redrive"
	} else if m.More == "" {
		m.More = sentence(markOf(l.State).word)
	}
	return m
}

func (l Life) returned() Moment {
	return Moment{At: l.ReturnedAt, Mark: "returned", Text: "Came back:", Link: &Link{Text: "as this letter", Href: Path("letters", l.CameBackAs)}}
}

// earlier is how many letters this one was before.
func (p LetterPage) earlier() int {
	n := 0
	for _, l := range p.Lives {
		if l.LetterID != "" && l.CameBackAs != "" {
			n++
		}
	}
	return n
}
