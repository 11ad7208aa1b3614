package web

import (
	"context"
	"time"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/views"
)

// Lives are what became of a letter whenever it was redriven.
type Lives interface {
	// Lives are the redrives of a letter and of those that it was before, the
	// oldest first.
	Lives(ctx context.Context, letter string) ([]review.Life, error)
	// RedrivesAt are the redrives that sent the record at which an incident stands,
	// or one of the next.
	RedrivesAt(ctx context.Context, incident string) ([]string, error)
}

type lifeJSON struct {
	Letter     string     `json:"letter"`
	Item       string     `json:"item"`
	Redrive    string     `json:"redrive"`
	By         *string    `json:"by"`
	StartedAt  *time.Time `json:"started_at"`
	SentAt     *time.Time `json:"sent_at"`
	State      string     `json:"state"`
	CameBackAs *string    `json:"came_back_as"`
	ReturnedAt *time.Time `json:"returned_at"`
	Error      *string    `json:"error"`
}

// livesOf are the lives of a letter; none where nobody keeps them.
func (s *Server) livesOf(ctx context.Context, letter string) ([]review.Life, error) {
	if s.Lives == nil {
		return nil, nil
	}
	return s.Lives.Lives(ctx, letter)
}

func livesJSON(lives []review.Life) []lifeJSON {
	out := make([]lifeJSON, 0, len(lives))
	for _, l := range lives {
		out = append(out, lifeJSON{
			Letter: l.LetterID, Item: l.ID, Redrive: l.Redrive, By: known(l.By), StartedAt: instant(l.StartedAt), SentAt: instant(l.SentAt),
			State: string(l.State), CameBackAs: known(l.CameBack), ReturnedAt: instant(l.ReturnedAt), Error: known(l.Error),
		})
	}
	return out
}

// letterLives adds to a letter's page what became of it and of those that it was
// before.
func (s *Server) letterLives(ctx context.Context, page *views.LetterPage) error {
	lives, err := s.livesOf(ctx, page.ID)
	for _, l := range lives {
		life := views.Life{
			Redrive: l.Redrive, By: l.By, At: l.StartedAt, Target: l.Target.Queue, State: string(l.State), Error: l.Error,
			CameBackAs: l.CameBack, ReturnedAt: l.ReturnedAt,
		}
		if l.LetterID == page.ID {
			page.CameBackAs = l.CameBack
		} else {
			life.LetterID = l.LetterID
		}
		page.Lives = append(page.Lives, life)
	}
	return err
}
