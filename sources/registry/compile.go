package registry

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/twmb/avro"
	"github.com/twmb/franz-go/pkg/sr"

	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/sources"
)

// Bounds of what is said of a value that does not fit.
const (
	mostMistakes = 3
	mostSaid     = 300 // bytes of one
)

// compile makes the check of a schema.
func compile(schema sr.Schema, refs references) (check, error) {
	switch schema.Type {
	case sr.TypeAvro:
		return compileAvro(schema, refs)
	case sr.TypeJSON:
		return compileJSON(schema, refs)
	}
	return nil, fmt.Errorf("it is %s, which is not checked", schema.Type)
}

func compileAvro(schema sr.Schema, refs references) (check, error) {
	var names avro.SchemaCache
	for _, name := range refs.order {
		if _, err := names.Parse(refs.by[name].Schema); err != nil {
			return nil, fmt.Errorf("%s, which it refers to: %w", name, err)
		}
	}
	parsed, err := names.Parse(schema.Schema)
	if err != nil {
		return nil, err
	}
	return func(data []byte) error {
		var value any
		rest, err := parsed.Decode(data, &value)
		switch {
		case err != nil:
			return mismatch(err.Error())
		case len(rest) > 0:
			return mismatch(fmt.Sprintf("%d bytes are left behind the value", len(rest)))
		}
		return nil
	}, nil
}

func mismatch(mistakes ...string) error {
	for i, m := range mistakes {
		if len(m) > mostSaid {
			mistakes[i] = strings.ToValidUTF8(m[:mostSaid], "") + "…"
		}
	}
	return fmt.Errorf("%w: %s", sources.ErrSchemaMismatch, strings.Join(mistakes, "; "))
}

// rootURL is the address of a schema that names none itself.
const rootURL = "registry:///schema"

// draftOfNone is what a schema is read as that does not say: the draft that the
// serialisers of registries write for.
var draftOfNone = jsonschema.Draft7

func compileJSON(schema sr.Schema, refs references) (check, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema.Schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(draftOfNone)
	c.UseLoader(refs)
	if err := c.AddResource(rootURL, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(rootURL)
	if err != nil {
		return nil, err
	}
	return func(data []byte) error { return fitsJSON(compiled, data) }, nil
}

// Load finds a schema that another one refers to. It reads nothing but what the
// registry gave: a schema must not make us read files or ask other hosts.
func (r references) Load(address string) (any, error) {
	for name, s := range r.by {
		if address == name || strings.HasSuffix(address, "/"+strings.TrimPrefix(name, "/")) {
			return jsonschema.UnmarshalJSON(strings.NewReader(s.Schema))
		}
	}
	return nil, fmt.Errorf("the registry does not say what %s is", address)
}

func fitsJSON(schema *jsonschema.Schema, data []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return mismatch("it is not JSON, as its schema wants it")
	}
	err = schema.Validate(value)
	var wrong *jsonschema.ValidationError
	if !errors.As(err, &wrong) {
		return err
	}
	var mistakes []string
	for _, unit := range wrong.BasicOutput().Errors {
		if unit.Error != nil && len(mistakes) < mostMistakes {
			mistakes = append(mistakes, fmt.Sprintf("at %s: %s", at(unit.InstanceLocation), payload.Visible([]byte(unit.Error.String()))))
		}
	}
	return mismatch(mistakes...)
}

// at is a place in a value; the whole has an empty pointer.
func at(pointer string) string {
	if pointer == "" {
		return "the whole value"
	}
	return pointer
}
