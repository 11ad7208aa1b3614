package kafka

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/convention"
)

// Config is one Kafka cluster as a source.
type Config struct {
	Name    string
	Brokers []string // host:port, some of the cluster's
	TLS     *TLS     // nil: plain text
	SASL    *SASL    // nil: no log-in

	Groups      sources.Patterns // no include: DefaultGroups
	DeadLetters sources.Patterns // no include: DefaultDeadLetters; topics
	From        From             // zero: 30 days back
	RedriveTo   sources.Patterns // no include: every topic but internal ones
	Routes      []sources.Route
	Park        []sources.Route    // where parked records go; a topic's own dead-letter topic where none matches
	Done        []sources.Finished // topics of finished work, which plans look through

	Mappings []convention.Mapping // conventions that only the owner knows

	// Timeout is how long a broker may take to accept a connection, and again
	// how long it may take to answer a request; zero: five seconds.
	Timeout time.Duration
}

// TLS has the files of a TLS connection. They are read at each connection, so
// that a renewed certificate needs no restart.
type TLS struct {
	CAFile   string // "": the system's authorities
	CertFile string // "": no client certificate
	KeyFile  string
}

// SASL is how to log in.
type SASL struct {
	Mechanism string // PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512
	Username  string
	// Password is asked at each log-in, so that a changed one needs no restart.
	Password func() (string, error)
}

// From is where the first look at a dead-letter topic begins. Letters before
// it are counted and not read.
type From struct {
	Age    time.Duration // letters of this age and younger
	Latest bool          // only those that come from now on
	All    bool          // every one that is there
}

// DefaultFrom reads the letters of the last 30 days.
var DefaultFrom = From{Age: 30 * 24 * time.Hour}

const defaultTimeout = 5 * time.Second

// notYet are mechanisms that are known and come with access control.
var notYet = []string{"OAUTHBEARER", "AWS_MSK_IAM"}

// Validate gives every mistake, each beginning with the key's path inside the
// kafka block.
func (c Config) Validate() []error {
	errs := c.validateBrokers()
	errs = append(errs, c.TLS.validate()...)
	errs = append(errs, c.SASL.validate()...)
	errs = append(errs, c.From.validate()...)
	errs = append(errs, convention.Mappings(c.Mappings).Validate()...)
	for i, r := range c.Routes {
		if r.From == "" || r.To == "" {
			errs = append(errs, fmt.Errorf("redrive[%d]: from and to are both needed", i))
		} else if internal(r.To) {
			errs = append(errs, fmt.Errorf("redrive[%d].to: %s is an internal topic of Kafka, nothing is redriven into it", i, r.To))
		}
	}
	for i, r := range c.Park {
		switch {
		case r.From == "" || r.To == "":
			errs = append(errs, fmt.Errorf("park[%d]: from and to are both needed", i))
		case internal(r.To):
			errs = append(errs, fmt.Errorf("park[%d].to: %s is an internal topic of Kafka, nothing is parked there", i, r.To))
		case !c.withDefaults().DeadLetters.Match(r.To):
			errs = append(errs, fmt.Errorf("park[%d].to: dead_letters does not select %s: what is parked there would not be seen", i, r.To))
		}
	}
	for i, f := range c.Done {
		for _, err := range f.Validate() {
			errs = append(errs, fmt.Errorf("done[%d].%w", i, err))
		}
	}
	if c.Timeout < 0 {
		errs = append(errs, errors.New("timeout: must not be negative"))
	}
	return errs
}

func (c Config) validateBrokers() []error {
	if len(c.Brokers) == 0 {
		return []error{errors.New("brokers: at least one host:port is needed")}
	}
	var errs []error
	for i, b := range c.Brokers {
		host, port, err := net.SplitHostPort(b)
		n, numErr := strconv.Atoi(port)
		if err != nil || host == "" || numErr != nil || n < 1 || n > 65535 {
			errs = append(errs, fmt.Errorf("brokers[%d]: %q is not host:port", i, b))
		}
	}
	return errs
}

func (t *TLS) validate() []error {
	if t != nil && (t.CertFile == "") != (t.KeyFile == "") {
		return []error{errors.New("tls: cert_file and key_file are needed together")}
	}
	return nil
}

func (s *SASL) validate() []error {
	if s == nil {
		return nil
	}
	var errs []error
	switch {
	case slices.Contains(notYet, s.Mechanism):
		errs = append(errs, fmt.Errorf("sasl.mechanism: %s is not supported yet, use PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", s.Mechanism))
	case !slices.Contains([]string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}, s.Mechanism):
		errs = append(errs, fmt.Errorf("sasl.mechanism: %q is none of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512", s.Mechanism))
	}
	if s.Username == "" {
		errs = append(errs, errors.New("sasl.username: is needed"))
	}
	if s.Password == nil {
		errs = append(errs, errors.New("sasl.password: is needed (or password_file)"))
	}
	return errs
}

func (f From) validate() []error {
	switch {
	case f.Age < 0:
		return []error{errors.New("dead_letters.from: must not be negative")}
	case f.Latest && f.All:
		return []error{errors.New("dead_letters.from: is either latest or all")}
	}
	return nil
}

func (c Config) withDefaults() Config {
	if len(c.Groups.Include) == 0 {
		c.Groups.Include = DefaultGroups.Include
		if c.Groups.Exclude == nil {
			c.Groups.Exclude = DefaultGroups.Exclude
		}
	}
	if len(c.DeadLetters.Include) == 0 {
		c.DeadLetters.Include = DefaultDeadLetters.Include
	}
	if len(c.RedriveTo.Include) == 0 {
		c.RedriveTo.Include = []string{"*"}
	}
	if c.From == (From{}) {
		c.From = DefaultFrom
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	return c
}

// internal tells topics that Kafka and its tools keep for themselves.
func internal(topic string) bool { return strings.HasPrefix(topic, "__") }
