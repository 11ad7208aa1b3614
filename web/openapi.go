package web

import (
	_ "embed"
	"net/http"

	"github.com/labstack/echo/v4"
)

// openAPI is the description of the API. It is written by hand; a test holds
// it against the route table and against real answers.
//
//go:embed openapi.json
var openAPI []byte

func (s *Server) showOpenAPI(c echo.Context) error {
	if err := noParameters(c); err != nil {
		return err
	}
	return writeBody(c, http.StatusOK, openAPI)
}
