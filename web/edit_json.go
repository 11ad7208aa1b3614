package web

import (
	"encoding/json"

	"github.com/unwedge/unwedge/review"
)

// editOf reads the edit of a body.
func editOf(json.RawMessage) (*review.Edit, error) {
	return nil, invalid("edit is not supported yet; leave it out")
}
