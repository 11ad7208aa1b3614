package web

import (
	"bytes"
	"net/http"
	"path"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/static"
)

// showStatic serves a style sheet, the script or an icon. The path changes with
// the files, so a browser may keep what it has for ever; under another version's
// path the present file is served, and not kept.
func (s *Server) showStatic(c echo.Context) error {
	name := segment(c, "name")
	file, err := static.Files.ReadFile(name)
	if err != nil {
		return echo.ErrNotFound
	}
	if segment(c, "version") == static.Hash() {
		c.Response().Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(c.Response(), c.Request(), path.Base(name), time.Time{}, bytes.NewReader(file))
	return nil
}
