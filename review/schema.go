package review

import (
	"context"
	"errors"
	"fmt"

	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/sources"
)

// SchemaChecker knows the schemas of values, as far as values name them.
type SchemaChecker interface {
	// CheckValue is nil for a value that fits its schema, or names none. Errors:
	// sources.ErrSchemaMismatch, with where and why; sources.ErrNoSchema; any
	// other: it could not be told.
	CheckValue(ctx context.Context, value []byte) error
}

// schemaChecks are what a plan tells of edited values. Nothing is said of those
// that nobody edited: they were sent so before.
var schemaChecks = []check{{
	code: "schema_mismatch", mustConfirm: true,
	applies: func(c *candidate) bool { return c.misfit != "" },
	says: func(_ *candidate, n int) string {
		return count(n, "edited value does", "edited values do") + " not fit " + either(n, "its schema", "their schemas")
	},
	seen: func(c *candidate) []string { return []string{"letter " + c.letter.ID + ": " + c.misfit} },
}}

// checkSchema looks whether the edited value of a letter still fits the schema
// that it names.
func (p *planner) checkSchema(ctx context.Context, out Outlet, c *candidate) {
	was, is := c.letter.Body, c.sent.Body
	if c.editErr != nil || p.Edit.IsEmpty() || sameBytes(was, is) || is == nil {
		return
	}
	before, hadFrame := payload.SchemaID(was)
	id, hasFrame := payload.SchemaID(is)
	switch {
	case !hadFrame && !hasFrame:
		return
	case out.Schemas == nil:
		p.gaps.add("edited values of %s name schemas, and its configuration has no schema_registry: they were not checked", c.letter.Source)
		return
	}
	value := is
	if !hasFrame {
		value, id = was, before
	}
	err := out.Schemas.CheckValue(ctx, value)
	switch {
	case !hasFrame && (err == nil || errors.Is(err, sources.ErrSchemaMismatch)):
		c.misfit = fmt.Sprintf("it named schema %d before the edit, and names none any more", id)
	case errors.Is(err, sources.ErrSchemaMismatch):
		c.misfit = err.Error()
	case errors.Is(err, sources.ErrNoSchema) && hadFrame && hasFrame && id != before:
		c.misfit = fmt.Sprintf("it names schema %d since the edit, and the registry has no such schema", id)
	case errors.Is(err, sources.ErrNoSchema):
		return // bytes that happen to begin like the frame of a registry
	case err != nil:
		p.gaps.add("whether edited values of %s fit their schemas: %s", c.letter.Source, err)
	}
}
