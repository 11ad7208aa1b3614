// Package registry knows the schemas of values in the frame of a schema registry
// (Confluent's wire format: a zero, four bytes of the schema's id, the data),
// and tells whether a value fits.
package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/sr"

	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/sources"
)

const (
	// askLimit is how long a registry may take for one answer: a person waits for
	// the plan.
	askLimit = 5 * time.Second
	// mostKept bounds the schemas that are kept. An id names one schema for ever.
	mostKept = 500
	// failedFor is for how long a registry is not asked again that did not answer.
	failedFor = 15 * time.Second
	frame     = 5 // bytes
)

// Config says where a registry is.
type Config struct {
	URL      string
	User     string                 // "" for none
	Password func() (string, error) // read for each request; nil: none
}

// Validate tells what is wrong with the configuration, by its key.
func (c Config) Validate() error {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("url: it must begin with http:// or https:// and name a host")
	case u.User != nil:
		return errors.New("url: name the user under user, and the password under password or password_file")
	case c.Password != nil && c.User == "":
		return errors.New("user: a password needs one")
	}
	return nil
}

// Registry is a schema registry. It may be used by several at once.
type Registry struct {
	client *sr.Client
	now    func() time.Time

	mu      sync.Mutex
	fits    map[int]check
	down    error
	downFor time.Time
}

// check tells of the data behind the frame whether it fits a schema.
type check func(data []byte) error

// New makes a registry. Nothing is asked yet.
func New(c Config) (*Registry, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	client, err := sr.NewClient(sr.URLs(c.URL), sr.UserAgent("unwedge"), sr.HTTPClient(&http.Client{Timeout: askLimit, Transport: signing{c}}))
	if err != nil {
		return nil, fmt.Errorf("schema registry: %w", err)
	}
	return &Registry{client: client, now: time.Now, fits: map[int]check{}}, nil
}

// signing sends user and password, read each time so that a rotated password
// needs no restart.
type signing struct{ Config }

// RoundTrip sends one request.
func (s signing) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.User != "" {
		password := ""
		if s.Password != nil {
			var err error
			if password, err = s.Password(); err != nil {
				return nil, err
			}
		}
		r = r.Clone(r.Context())
		r.SetBasicAuth(s.User, password)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// CheckValue tells whether a value fits the schema that its frame names; one
// without a frame names none, and nil is said of it. Errors:
// sources.ErrSchemaMismatch with the path of the first mistakes,
// sources.ErrNoSchema, or that it could not be told.
func (r *Registry) CheckValue(ctx context.Context, value []byte) error {
	id, framed := payload.SchemaID(value)
	if !framed {
		return nil
	}
	fits, err := r.checkOf(ctx, id)
	if err != nil {
		return err
	}
	return fits(value[frame:])
}

// checkOf is the check of a schema, asked for once.
func (r *Registry) checkOf(ctx context.Context, id int) (check, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if fits, known := r.fits[id]; known {
		return fits, nil
	}
	if r.now().Before(r.downFor) {
		return nil, r.down
	}
	fits, err := r.fetch(ctx, id)
	var answered *sr.ResponseError
	switch {
	case errors.As(err, &answered) && answered.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%w: %d", sources.ErrNoSchema, id)
	case err != nil:
		err = fmt.Errorf("the schema registry could not be asked for schema %d: %w", id, err)
		if ctx.Err() == nil {
			r.down, r.downFor = err, r.now().Add(failedFor)
		}
		return nil, err
	}
	r.keep(id, fits)
	return fits, nil
}

func (r *Registry) keep(id int, fits check) {
	for other := range r.fits {
		if len(r.fits) < mostKept {
			break
		}
		delete(r.fits, other)
	}
	r.fits[id] = fits
}

func (r *Registry) fetch(ctx context.Context, id int) (check, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	schema, err := r.client.SchemaByID(ctx, id)
	if err != nil {
		return nil, err
	}
	refs := references{client: r.client, by: map[string]sr.Schema{}}
	if err := refs.gather(ctx, schema.References); err != nil {
		return nil, err
	}
	fits, err := compile(schema, refs)
	if err != nil { // its schema is what it is: asking again would not help
		return func([]byte) error { return fmt.Errorf("schema %d cannot be used: %w", id, err) }, nil
	}
	return fits, nil
}

// mostReferences bounds how many schemas one schema draws in.
const mostReferences = 50

// references are the schemas that a schema refers to, and those that they refer
// to, by the names they are referred by. Those that are referred to come first.
type references struct {
	client *sr.Client
	by     map[string]sr.Schema
	order  []string
}

func (r *references) gather(ctx context.Context, refs []sr.SchemaReference) error {
	for _, ref := range refs {
		if _, there := r.by[ref.Name]; there {
			continue
		}
		if len(r.by) >= mostReferences {
			return fmt.Errorf("the schema refers to more than %d others", mostReferences)
		}
		found, err := r.client.SchemaByVersion(ctx, ref.Subject, ref.Version)
		if err != nil {
			return err
		}
		r.by[ref.Name] = found.Schema
		if err := r.gather(ctx, found.References); err != nil {
			return err
		}
		r.order = append(r.order, ref.Name)
	}
	return nil
}
