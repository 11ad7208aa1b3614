package web

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"
)

// openAPI is the description of the API. It is written by hand; a test holds
// it against the route table and against real answers.
//
//go:embed openapi.json
var openAPI []byte

// openAPIFor is the document with the base path that the API is served under.
func openAPIFor(base string) []byte {
	if base == "" {
		base = "/"
	}
	server, _ := json.Marshal(base) // a string always marshals
	return bytes.Replace(openAPI, []byte(`"/"`), server, 1)
}

func (s *Server) showOpenAPI(c echo.Context) error {
	if err := noParameters(c); err != nil {
		return err
	}
	return writeBody(c, http.StatusOK, s.openAPI)
}
