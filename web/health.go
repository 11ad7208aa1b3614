package web

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// healthJSON is the answer of the two probes.
type healthJSON struct {
	Status  string            `json:"status"` // ok, unavailable
	Version string            `json:"version"`
	Failed  map[string]string `json:"failed"` // by part
}

// showHealth says that the process is up; it asks nothing.
func (s *Server) showHealth(c echo.Context) error {
	return ok(c, healthJSON{Status: "ok", Version: s.Version, Failed: map[string]string{}})
}

// showReady says whether every part is well: 503 names those that are not.
func (s *Server) showReady(c echo.Context) error {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(c.Request().Context(), patience)
	defer cancel()
	answer := healthJSON{Status: "ok", Version: s.Version, Failed: map[string]string{}}
	status := http.StatusOK
	for _, check := range s.Checks {
		if err := check.Well(ctx); err != nil {
			answer.Failed[check.Name] = validText(err.Error())
			answer.Status, status = "unavailable", http.StatusServiceUnavailable
		}
	}
	return writeJSON(c, status, answer)
}
