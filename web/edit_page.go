package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/views"
)

// showEdit shows the form in which one letter is edited: the same every time it
// is opened, whatever was tried before.
func (s *Server) showEdit(c echo.Context) error {
	l, err := s.letter(c)
	if err != nil {
		return err
	}
	return s.show(c, views.EditLetter(s.editPage(c, l, form{})))
}

// doEdit makes a plan of one edited letter. What is wrong with the form is said
// on it, with all that was typed.
func (s *Server) doEdit(c echo.Context) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	l, err := s.letter(c)
	if err != nil {
		return err
	}
	edit, err := letterEdit(f, l)
	if err == nil && edit != nil {
		err = edit.Validate(1)
	}
	if err == nil {
		err = fits(edit, l)
	}
	if err == nil {
		return s.planEdited(c, f, review.Selection{IDs: []string{l.ID}}, edit)
	}
	p, ok := asProblem(err)
	if !ok {
		return err
	}
	page := s.editPage(c, l, f)
	page.Problem = sentence(p.message)
	return s.render(c, p.status, views.EditLetter(page))
}

// fits is an error when an edit cannot be made of a letter.
func fits(e *review.Edit, l review.Letter) error {
	if _, err := e.Apply(l.DeadLetter); err != nil {
		return invalid("%s", err)
	}
	return nil
}

// planEdited makes a plan and sends the browser to it. An edit that changes
// nothing is none: the letters go as they are, and the plan says so.
func (s *Server) planEdited(c echo.Context, f form, what review.Selection, edit *review.Edit) error {
	ctx := c.Request().Context()
	options, err := s.planOptions(ctx, f)
	if err != nil {
		return err
	}
	options.Edit = edit
	plan, err := s.Desk.Plan(ctx, review.Request{Selection: what, Options: options, By: localUser})
	if err != nil {
		return err
	}
	return s.see(c, views.Path("redrives/plans", plan.ID))
}

// editPage is the form of one letter, with what was typed into it before.
func (s *Server) editPage(c echo.Context, l review.Letter, f form) views.EditLetterPage {
	page := views.EditLetterPage{
		Frame: s.frame(c, views.ReviewSection, "Edit "+letterTitle(l)), ID: l.ID, Name: letterName(l), HeadersAre: "headers",
		Value: fieldOf(f, "value", l.Body), Gone: !l.BodyKept,
	}
	if _, layers := payload.Unquoted(l.Body); layers > 0 {
		page.Value.Choices = append(page.Value.Choices, asDecoded)
		page.Value.Layers = layers
	}
	if l.Place.MessageID == "" {
		key := fieldOf(f, "key", l.Key)
		page.Key = &key
	} else {
		page.HeadersAre = "message attributes"
		page.Value.Choices = slices.DeleteFunc(page.Value.Choices, func(as string) bool { return as == asEmpty || as == asNull })
	}
	if len(l.Headers) > mostRows {
		page.ManyHeaders = len(l.Headers)
		page.Drop = dropRows(f)
	} else {
		page.Headers = headerFields(f, l, s.Rules[l.Source].DropHeaders)
	}
	page.New = newFields(f)
	return page
}

// fieldOf is a value or a key in its box.
func fieldOf(f form, name string, b []byte) views.EditField {
	field := views.EditField{Name: name, Size: int64(len(b)), Choices: []string{asText, asBase64, asEmpty, asNull}}
	if len(b) > mostBoxed {
		field.As, field.TooLarge = asKept, true
		return field
	}
	field.Box, field.As = boxOf(b)
	if f.has(name + "-as") {
		field.Box, field.As = oneLineBreak(f.one(name)), f.one(name+"-as")
	}
	return field
}

func headerFields(f form, l review.Letter, drop []string) []views.EditHeader {
	dropped := review.PlanHeaders(l.DeadLetter, drop).Dropped
	var rows []views.EditHeader
	for i, h := range l.Headers {
		n := strconv.Itoa(i)
		row := views.EditHeader{Number: i, Name: h.Name, Type: h.Type, ByRule: slices.Contains(dropped, h.Name), Left: f.one("drop-"+n) != ""}
		row.Fixed = !fitsBox([]byte(h.Name)) || strings.ContainsAny(h.Name, "\r\n")
		row.Box, row.As = boxOf(h.Value)
		if f.has("as-" + n) {
			row.Box, row.As = oneLineBreak(f.one("value-"+n)), f.one("as-"+n)
		}
		if f.has("name-" + n) {
			row.Name = f.one("name-" + n)
		}
		rows = append(rows, row)
	}
	return rows
}

// newFields are the rows for new headers: those that were filled in, and a few
// more.
func newFields(f form) []views.EditHeader {
	var rows []views.EditHeader
	for i := range mostNewRows {
		n := strconv.Itoa(i)
		row := views.EditHeader{Number: i, Name: f.one("new-name-" + n), Box: oneLineBreak(f.one("new-value-" + n)), As: f.one("new-as-" + n)}
		if row.As == "" {
			row.As = asText
		}
		if row.Name == "" && row.Box == "" && i >= emptyRows {
			break
		}
		rows = append(rows, row)
	}
	return rows
}

// dropRows are names to drop: those that were filled in, and a few more.
func dropRows(f form) []string { return append(f.many("drop"), make([]string, emptyRows)...) }

// showEditMany shows the form in which the letters of a cause are edited, all of
// them or those that were ticked.
func (s *Server) showEditMany(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	ids := q.many("letter")
	if err := q.lenient(); err != nil {
		return err
	}
	page, err := s.editManyPage(c, ids, form{})
	if err != nil {
		return err
	}
	return s.show(c, views.EditMany(page))
}

// doEditMany makes a plan of the edited letters.
func (s *Server) doEditMany(c echo.Context) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	what := review.Selection{IDs: f.many("letter")}
	if len(what.IDs) == 0 {
		what = review.Selection{Cause: segment(c, "id")}
	}
	edit, err := manyEdit(f)
	if err == nil && edit == nil {
		err = invalid("nothing was filled in: the letters would be sent as they are")
	}
	if err == nil {
		err = edit.Validate(mostRows)
	}
	if err == nil {
		return s.planEdited(c, f, what, edit)
	}
	p, ok := asProblem(err)
	if !ok {
		return err
	}
	page, err := s.editManyPage(c, what.IDs, f)
	if err != nil {
		return err
	}
	page.Problem = sentence(p.message)
	return s.render(c, p.status, views.EditMany(page))
}

func (s *Server) editManyPage(c echo.Context, ids []string, f form) (views.EditManyPage, error) {
	ctx, id := c.Request().Context(), segment(c, "id")
	cause, err := s.Causes.Cause(ctx, id)
	if err != nil {
		return views.EditManyPage{}, orMissing(err, "cause", id)
	}
	page := views.EditManyPage{
		Frame: s.frame(c, views.ReviewSection, "Edit "+cause.Title), Cause: id, CauseTitle: cause.Title,
		Letters: ids, Total: len(ids), Patch: patchFields(f), New: newFields(f), Drop: dropRows(f),
	}
	if len(ids) == 0 {
		page.Total = cause.Count
	}
	list, err := s.Letters.Letters(ctx, review.Filter{Causes: []string{id}}, 1, "")
	if err != nil || len(list.Letters) == 0 {
		return page, err
	}
	first := list.Letters[0]
	page.Example = bodyView(first.Body, max(first.Size, int64(len(first.Body))), shownRecord, nil)
	return page, nil
}

// patchFields are the rows of a patch: those that were filled in, and empty
// ones.
func patchFields(f form) []views.PatchRow {
	var rows []views.PatchRow
	for i := range mostPatching {
		field := func(name string) string { return oneLineBreak(f.one(fmt.Sprint(name, "-", i))) }
		row := views.PatchRow{Number: i, Op: field("op"), Path: field("path"), From: field("from"), Value: field("patch")}
		if row.Op == "" {
			row.Op = "replace"
		}
		if row.Path == "" && row.From == "" && row.Value == "" && i >= patchRows {
			break
		}
		rows = append(rows, row)
	}
	return rows
}
