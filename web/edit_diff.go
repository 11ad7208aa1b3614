package web

import (
	"context"
	"slices"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/views"
)

// Bounds of what is shown of an edit.
const (
	mostChanges = 50  // of one letter
	shownChange = 300 // bytes of what was and what is
)

// planDiff is what the edit of a plan makes of its first letters, read a few at
// a time; nil when there is no edit.
func (s *Server) planDiff(ctx context.Context, plan review.Plan) (*views.DiffView, error) {
	if plan.Edit.IsEmpty() {
		return nil, nil
	}
	v := &views.DiffView{Total: plan.Total}
	for chunk := range slices.Chunk(plan.Letters[:min(len(plan.Letters), mostDetailed)], detailChunk) {
		ids := make([]string, 0, len(chunk))
		for _, l := range chunk {
			ids = append(ids, l.LetterID)
		}
		letters, err := s.lettersOf(ctx, ids)
		if err != nil {
			return nil, err
		}
		for _, l := range letters {
			v.Letters = append(v.Letters, letterDiff(plan.Edit, l))
		}
	}
	return v, nil
}

func letterDiff(e *review.Edit, l review.Letter) views.LetterDiff {
	d := views.LetterDiff{ID: l.ID, Name: letterName(l)}
	edited, err := e.Apply(l.DeadLetter)
	switch {
	case !l.BodyKept:
		d.Because = "the store has forgotten its body"
		return d
	case err != nil:
		d.Because = err.Error()
		return d
	}
	changes, all := review.Changes(l.DeadLetter, edited, mostChanges)
	d.More = !all
	for _, c := range changes {
		d.Changes = append(d.Changes, views.DiffRow{What: c.What, Path: c.Path, At: c.At, Old: diffSide(c.Old), New: diffSide(c.New)})
	}
	return d
}

func diffSide(r review.Replaced) views.DiffSide {
	if !r.Is {
		return views.DiffSide{}
	}
	return views.DiffSide{Is: true, Bytes: bytesView(r.Bytes, shownChange)}
}

// letterName is what a list calls a letter: its key, or where it lies.
func letterName(l review.Letter) string {
	if len(l.Key) > 0 && validUTF8(l.Key) {
		return string(cutText(l.Key, shownKey))
	}
	return l.Queue + ", " + placeName(l.Place)
}

var _ = slices.Clone[[]int]
