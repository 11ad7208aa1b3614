package views

import "time"

// SilencesPage lists what pages nobody for a while, with a form for another. The
// form goes to POST /silences with source, group, topic, hours and reason, and
// with incident, whose page is shown again; 303 back. POST /silences/{id} with
// do=end ends one.
type SilencesPage struct {
	Frame
	All      bool // those that are over, too
	Silences []SilenceRow
	Form     SilenceForm
	Problem  string // why none was set; "" when nothing went wrong
	Pager    Pager
}

// SilenceRow is one silence.
type SilenceRow struct {
	ID                   string
	Source, Group, Topic string // patterns
	Reason               string
	By                   string
	From, Until          time.Time
}

// SilenceForm is what somebody typed, or what is proposed.
type SilenceForm struct {
	Source, Group, Topic string
	Hours                string
	Reason               string
}

// state is how a silence stands.
func (p SilencesPage) state(s SilenceRow) string {
	switch {
	case !p.Now.Before(s.Until):
		return "over"
	case p.Now.Before(s.From):
		return "to come"
	}
	return "now"
}

func (p SilencesPage) lede() string {
	return "Incidents that match are listed and page nobody. Whoever was paged is still told of the end, and what stands when a silence is over is paged then."
}

func (s SilenceRow) about() string {
	if s.Source == "*" && s.Group == "*" && s.Topic == "*" {
		return "everything"
	}
	text := ""
	for _, part := range []struct{ what, pattern string }{{"group", s.Group}, {"topic", s.Topic}, {"source", s.Source}} {
		if part.pattern == "*" {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += part.what + " " + Visible(part.pattern)
	}
	return text
}
