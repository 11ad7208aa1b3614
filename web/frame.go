package web

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/static"
	"github.com/unwedge/unwedge/views"
)

// lateAfter is how many of its intervals a source may be silent before it is
// late, and leastLate how long at least.
const (
	lateAfter = 3
	leastLate = 30 * time.Second
)

// Frame is what stands around a page, also for pages that another package
// serves. What the store cannot say is left out: an error page has a frame,
// too.
func (s *Server) Frame(ctx context.Context, section views.Section, title string) views.Frame {
	f := views.Frame{
		Title: title, Section: section, BasePath: s.base, Static: static.Path(""), Zone: s.TimeZone,
		Now: s.Now(), OpenLetters: views.Unknown, Demo: s.Demo,
	}
	if open, err := s.Incidents.OpenIncidents(ctx); err == nil {
		for _, n := range open {
			f.OpenIncidents += n
		}
	}
	f.NotDelivered = s.notDelivered(ctx)
	if sum, err := s.Causes.Summary(ctx); err == nil {
		f.OpenLetters = sum.Letters
	}
	for _, r := range s.readings(s.Board.Board()) {
		f.Sources = append(f.Sources, views.SourceRead{Name: r.Source, ReadAt: r.ReadAt, Error: r.Err, Late: s.late(r)})
	}
	return f
}

func (s *Server) frame(c echo.Context, section views.Section, title string) views.Frame {
	f := s.Frame(c.Request().Context(), section, title)
	f.Query = c.QueryParam("q")
	return f
}

// readings says when each source was last read: its lag, or where it has none
// its letters. Sources are in the order of the configuration.
func (s *Server) readings(board alerts.Board) []alerts.SourceRead {
	read := map[string]alerts.SourceRead{}
	var order []string
	add := func(r alerts.SourceRead) {
		if _, there := read[r.Source]; !there {
			order = append(order, r.Source)
		}
		read[r.Source] = r
	}
	for _, configured := range s.Sources {
		add(alerts.SourceRead{Source: configured.Name})
	}
	if s.Collector != nil {
		for _, r := range s.Collector.Status() {
			add(alerts.SourceRead{Source: r.Source, ReadAt: r.ReadAt, Err: r.Err})
		}
	}
	for _, r := range board.Sources {
		add(r)
	}
	out := make([]alerts.SourceRead, 0, len(order))
	for _, name := range order {
		out = append(out, read[name])
	}
	return out
}

// late tells whether a source is read less often than it should be.
func (s *Server) late(r alerts.SourceRead) bool {
	every := s.configured(r.Source).Every
	return every > 0 && !r.ReadAt.IsZero() && s.Now().Sub(r.ReadAt) > max(lateAfter*every, leastLate)
}

// configured is a source as it is configured; one that is not has its name
// alone.
func (s *Server) configured(name string) Source {
	for _, source := range s.Sources {
		if source.Name == name {
			return source
		}
	}
	return Source{Name: name}
}
