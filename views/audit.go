package views

import (
	"strings"
	"time"
)

// AuditPage lists who did what, newest first.
type AuditPage struct {
	Frame
	By, Action, On string // what the list is narrowed to; "" to nothing
	Entries        []AuditRow
	Pager          Pager
}

// AuditRow is one effect.
type AuditRow struct {
	At      time.Time
	By      string
	Action  string
	On      string // id of a letter, a redrive or a discard
	Outcome string
}

func (p AuditPage) narrowed() bool { return p.By+p.Action+p.On != "" }

// where is the page of what an entry is about; "" when it has none.
func (r AuditRow) where() string {
	for prefix, page := range map[string]string{"dl_": "letters", "rd_": "redrives", "di_": "discards"} {
		if strings.HasPrefix(r.On, prefix) {
			return Path(page, r.On)
		}
	}
	return ""
}
