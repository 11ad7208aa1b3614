package views

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// EditLetterPage is the form in which one letter is edited before it is
// redriven. It goes to POST /letters/{id}/edit, with the fields value and
// value-as, key and key-as, and for each header name-N, value-N, as-N and
// drop-N; those of new ones have new- before them. 303 to the plan.
type EditLetterPage struct {
	Frame
	ID      string
	Name    string // what a person calls the letter
	Gone    bool   // its body is forgotten: nothing can be edited
	Problem string // why nothing was planned; "" when nothing is wrong
	Value   EditField
	Key     *EditField // nil on SQS, where there is none
	// HeadersAre names them: "headers", or "message attributes" on SQS.
	HeadersAre  string
	Headers     []EditHeader // in wire order; empty when there are too many for rows
	ManyHeaders int          // how many there are then: they are set and dropped by name
	New         []EditHeader
	Drop        []string
}

// EditField is a value or a key in a box.
type EditField struct {
	Name     string // of the form's field
	Box      string
	As       string   // how the box is read, or what is sent in its place: text, base64, empty, null, decoded, kept
	Choices  []string // of As
	Size     int64    // of the original
	TooLarge bool     // it is too large for a box, and is sent as it is
	Layers   int      // of base64 in a JSON string around it
}

// EditHeader is a header in a row of the form.
type EditHeader struct {
	Number int
	Name   string
	Fixed  bool // the name cannot stand in a box
	Type   string
	Box    string
	As     string
	ByRule bool // the redrive drops it unless it is changed
	Left   bool // ticked to be left out
}

// EditManyPage is the form in which many letters are edited by a patch. It goes
// to POST /causes/{id}/edit, with op-N, path-N, from-N and patch-N for each
// change of the value, new-name-N, new-value-N and new-as-N for headers to set,
// drop for names to drop, and letter for each letter when it is not for all.
type EditManyPage struct {
	Frame
	Cause      string
	CauseTitle string
	Letters    []string // ids; empty: all of the cause
	Total      int
	Problem    string
	Patch      []PatchRow
	New        []EditHeader // headers to set
	Drop       []string     // names to drop
	Example    Body         // of the newest letter
}

// PatchRow is one change of a value.
type PatchRow struct {
	Number int
	Op     string
	Path   string
	From   string
	Value  string // JSON
}

// patchOps are what a change can be, in words.
var patchOps = []Option{
	{Value: "replace", Text: "replace"},
	{Value: "add", Text: "add"},
	{Value: "remove", Text: "remove"},
	{Value: "move", Text: "move here"},
	{Value: "copy", Text: "copy here"},
	{Value: "test", Text: "only where it is"},
}

func (r PatchRow) ops() []Option { return chosen(patchOps, r.Op) }

func chosen(options []Option, value string) []Option {
	list := make([]Option, len(options))
	for i, o := range options {
		o.Selected = o.Value == value
		list[i] = o
	}
	return list
}

// editAs says each way in which a field can be sent.
var editAs = map[string]string{
	"text": "the text in the box", "base64": "the bytes that the box has in base64", "empty": "empty (0 bytes)", "null": "null",
	"decoded": "decoded: what it holds in base64",
}

func (f EditField) options() []Option { return asOptions(f.Choices, f.As) }

func (h EditHeader) options() []Option {
	return asOptions([]string{"text", "base64", "empty", "null"}, h.As)
}

func asOptions(choices []string, as string) []Option {
	var list []Option
	for _, c := range choices {
		list = append(list, Option{Value: c, Text: editAs[c], Selected: c == as})
	}
	return list
}

func (p EditManyPage) heading() string {
	if p.Total == 1 {
		return "Edit 1 letter, and redrive it"
	}
	return "Edit " + Plural(p.Total, "letter") + ", and redrive them"
}

// says is what a field is, and what is special about it.
func (f EditField) says() string {
	switch {
	case f.TooLarge:
		return Size(f.Size) + ": too large for a box. It is sent as it is; the API takes up to 16 MB."
	case f.As == "base64":
		return Size(f.Size) + ", not text: the box has its bytes in base64."
	case f.As == "null", f.As == "empty":
		return "It is " + editAs[f.As] + "."
	}
	return Size(f.Size) + "."
}

func (f EditField) layers() string {
	if f.Layers == 1 {
		return "It looks like base64 inside a JSON string. It is sent as it is unless you choose to send it decoded."
	}
	return "It looks like base64 inside a JSON string, " + number(f.Layers) + " deep. It is sent as it is unless you choose to send it decoded."
}

// digits is a number as it stands in the name of a form's field.
func digits(n int) string { return strconv.Itoa(n) }

// asTyped is text to be edited, as it is: what a box does not show it must send
// all the same. Text that no box could hold is only shown.
func asTyped(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
		return s
	}
	return Visible(s)
}
