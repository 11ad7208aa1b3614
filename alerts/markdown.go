package alerts

import (
	"strings"
	"unicode"
)

// document is Markdown, block by block.
type document struct{ strings.Builder }

// text adds a block, with an empty line behind it.
func (d *document) text(block string) {
	if block != "" {
		d.WriteString(block + "\n\n")
	}
}

func (d *document) list(items []string) {
	if len(items) > 0 {
		d.text("- " + strings.Join(items, "\n- "))
	}
}

// table adds a table; none without rows. Cells are Markdown already.
func (d *document) table(head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	lines := []string{tableRow(head), tableRow(make([]string, len(head)))}
	lines[1] = strings.ReplaceAll(lines[1], "  ", " --- ")
	for _, cells := range rows {
		lines = append(lines, tableRow(cells))
	}
	d.text(strings.Join(lines, "\n"))
}

// tableOr is a table, or a sentence where there would be none.
func (d *document) tableOr(none string, head []string, rows [][]string) {
	if len(rows) == 0 {
		d.text(none)
		return
	}
	d.table(head, rows)
}

func tableRow(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }

// plain is a foreign text on one line in which nothing is Markdown or HTML:
// names, errors and reasons come from brokers and people.
func plain(text string) string {
	var out strings.Builder
	last := ' '
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		inWord := r == '_' && (unicode.IsLetter(last) || unicode.IsDigit(last)) // there it is no markup
		last = r
		switch {
		case strings.ContainsRune("\\`*_[]<>|~&", r) && !inWord:
			out.WriteByte('\\')
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r):
			r = ' '
		}
		out.WriteRune(r)
	}
	return strings.TrimSpace(out.String())
}
