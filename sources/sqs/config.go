package sqs

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// DefaultScanEvery is how often the letters of a queue are looked at: each
// look is a receive, which hides them from others for a moment.
const DefaultScanEvery = 15 * time.Minute

// Config is one AWS account and region as a source.
type Config struct {
	Name     string
	Region   string
	Endpoint string // of an emulator, such as http://127.0.0.1:9324; "" for AWS

	Queues sources.Patterns // no include: every queue
	// DeadLetters name dead-letter queues besides those that a redrive policy
	// names. One that has a redrive policy of its own is scanned only when an
	// include matches it; one that an exclude matches is never scanned.
	DeadLetters sources.Patterns
	Routes      []sources.Route
	ScanEvery   time.Duration // 0: DefaultScanEvery
	// DrainFIFO would take letters off a FIFO queue into the store, to see the
	// deeper ones. It is refused for now.
	DrainFIFO bool

	// Recogniser tells the origin and the reason of a letter from its attributes
	// and body; nil: they stay unknown.
	Recogniser Recogniser
}

// Recogniser knows the conventions by which letters tell of their past.
type Recogniser interface {
	// Recognise fills in what the letter's attributes and body tell.
	Recognise(*sources.DeadLetter)
}

// Validate gives every mistake, each beginning with the key's path inside the
// sqs block.
func (c Config) Validate() []error {
	var errs []error
	if c.Region == "" {
		errs = append(errs, errors.New("region: is needed, such as ap-south-1"))
	}
	if c.Endpoint != "" {
		u, err := url.Parse(c.Endpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			errs = append(errs, fmt.Errorf("endpoint: %q is not an address such as http://127.0.0.1:9324", c.Endpoint))
		}
	}
	for i, r := range c.Routes {
		if r.From == "" || r.To == "" {
			errs = append(errs, fmt.Errorf("redrive[%d]: from and to are both needed", i))
		}
	}
	if c.ScanEvery < 0 {
		errs = append(errs, errors.New("scan_every: must not be negative"))
	}
	if c.DrainFIFO {
		errs = append(errs, errors.New("drain_fifo: is not supported yet"))
	}
	return errs
}

func (c Config) withDefaults() Config {
	if len(c.Queues.Include) == 0 {
		c.Queues.Include = []string{"*"}
	}
	if c.ScanEvery == 0 {
		c.ScanEvery = DefaultScanEvery
	}
	return c
}

// named tells whether the configuration names a queue as a dead-letter queue.
func (c Config) named(queue string) bool { return c.DeadLetters.Match(queue) }

// excluded tells whether the configuration forbids to scan a queue.
func (c Config) excluded(queue string) bool {
	return (sources.Patterns{Include: c.DeadLetters.Exclude}).Match(queue)
}

// wayBack is the configured way back of the letters of a queue, "" for none.
func (c Config) wayBack(queue string) string {
	for _, r := range c.Routes {
		if sources.Glob(r.From, queue) {
			return r.To
		}
	}
	return ""
}
