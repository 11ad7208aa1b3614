package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/unwedge/unwedge/sources"
)

// config is the configuration file, as docs/configuration.md has it. Keys of
// type laterKey are known, and refused by name until they are built.
type config struct {
	Listen         string           `yaml:"listen"`
	BaseURL        string           `yaml:"base_url"`
	Store          string           `yaml:"store"`
	TimeZone       string           `yaml:"time_zone"`
	Review         reviewConfig     `yaml:"review"`
	Sources        []sourceConfig   `yaml:"sources"`
	Alerts         alertsConfig     `yaml:"alerts"`
	Notify         []notifierConfig `yaml:"notify"`
	History        span             `yaml:"history"`
	Keep           laterKey         `yaml:"keep"`
	Redrive        laterKey         `yaml:"redrive"`
	Heartbeat      *heartbeatConfig `yaml:"heartbeat"`
	Auth           laterKey         `yaml:"auth"`
	Audit          laterKey         `yaml:"audit"`
	TLS            laterKey         `yaml:"tls"`
	TrustedProxies laterKey         `yaml:"trusted_proxies"`
}

type reviewConfig struct {
	Day string `yaml:"day"`
	At  string `yaml:"at"`
}

type sourceConfig struct {
	Name  string       `yaml:"name"`
	Kafka *kafkaConfig `yaml:"kafka"`
	SQS   *sqsConfig   `yaml:"sqs"`
}

type patternsConfig struct {
	Include []string `yaml:"include"`
	Exclude []string `yaml:"exclude"`
}

// or is the patterns, with what is included where the file does not say.
func (p *patternsConfig) or(include []string) sources.Patterns {
	if p == nil {
		return sources.Patterns{Include: include}
	}
	out := sources.Patterns{Include: p.Include, Exclude: p.Exclude}
	if p.Include == nil {
		out.Include = include
	}
	return out
}

type routeConfig struct {
	From string `yaml:"from"`
	To   string `yaml:"to"`
}

func routes(list []routeConfig) (out []sources.Route) {
	for _, r := range list {
		out = append(out, sources.Route{From: r.From, To: r.To})
	}
	return out
}

// defaults are the values of the contract.
func defaults() config {
	return config{
		Listen: "127.0.0.1:8080", Store: "unwedge.db", TimeZone: "UTC", History: span(30 * 24 * time.Hour),
		Review: reviewConfig{Day: "monday", At: "09:00"},
		Alerts: alertsConfig{PollEvery: span(15 * time.Second), StallAfter: span(4 * time.Minute), RepeatAfter: span(30 * time.Minute)},
	}
}

// loadConfig reads a configuration file and finds everything that is wrong
// with it. What the adapters do not like about their own part is found when
// they are built, by the same rules.
func loadConfig(path string, getenv func(string) (string, bool)) (config, mistakes) {
	c := defaults()
	text, err := os.ReadFile(path)
	if err != nil {
		return c, mistakes{fmt.Errorf("read the configuration: %w", err)}
	}
	root, err := document(text)
	if err != nil {
		return c, mistakes{err}
	}
	wrong := decode(root, getenv, &c)
	return c, append(wrong, c.validate(wrong)...)
}

// document is the only YAML document of a file: what stands in a second one
// would be left unread.
func document(text []byte) (*yaml.Node, error) {
	var root, second yaml.Node
	file := yaml.NewDecoder(bytes.NewReader(text))
	err := file.Decode(&root)
	if errors.Is(err, io.EOF) {
		return &root, nil
	}
	if err == nil {
		if err = file.Decode(&second); errors.Is(err, io.EOF) {
			return &root, nil
		}
	}
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return nil, fmt.Errorf("line %d: a second document begins: put everything into one", second.Line)
}

func (c *config) validate(already mistakes) (wrong mistakes) {
	c.validateFace(&wrong)
	c.validateReview(&wrong)
	c.validateSources(&wrong)
	c.validateAlerts(&wrong)
	c.validateNotify(&wrong)
	c.Heartbeat.validate(&wrong)
	return slices.DeleteFunc(wrong, func(err error) bool { return already.name(err) })
}

// name tells whether the path of a mistake was named by an earlier one: a key
// that could not be decoded is not told twice.
func (m mistakes) name(err error) bool {
	path, _, _ := strings.Cut(err.Error(), ": ")
	return slices.ContainsFunc(m, func(e error) bool { return strings.Contains(e.Error(), ": "+path+": ") })
}

func (c *config) validateFace(wrong *mistakes) {
	if err := loopback(c.Listen); err != nil {
		wrong.add("listen", 0, "%w", err)
	}
	if c.BaseURL != "" {
		validateURL("base_url", c.BaseURL, wrong)
	}
	if _, err := time.LoadLocation(c.TimeZone); err != nil {
		wrong.add("time_zone", 0, "%w", err)
	}
	if strings.Contains(c.Store, "://") {
		wrong.add("store", 0, "not yet: only a SQLite file can be the store")
	}
	if c.Store == "" {
		wrong.add("store", 0, "must name a file")
	}
}

// loopback refuses an address that others can reach: there is no access
// control yet.
func loopback(listen string) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("%q is no address such as 127.0.0.1:8080", listen)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > math.MaxUint16 {
		return fmt.Errorf("%q has no port", listen)
	}
	if host == "localhost" {
		return nil
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return fmt.Errorf("%s can be reached from other machines, and there is no access control yet: listen on 127.0.0.1", listen)
	}
	return nil
}

func validateURL(path, text string, wrong *mistakes) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		wrong.add(path, 0, "must be an http or https address")
	} else if u.User != nil || u.RawQuery != "" && path == "base_url" || u.Fragment != "" {
		wrong.add(path, 0, "must be an address without user, query or fragment")
	}
}

func (c *config) validateReview(wrong *mistakes) {
	if time.Duration(c.History) < time.Hour {
		wrong.add("history", 0, "is %s; at least an hour of readings is kept", time.Duration(c.History))
	}
	if _, ok := weekday(c.Review.Day); !ok {
		wrong.add("review.day", 0, "%q is no day of the week", c.Review.Day)
	}
	if _, err := time.Parse("15:04", c.Review.At); err != nil {
		wrong.add("review.at", 0, "%q is no time of day such as 09:00", c.Review.At)
	}
}

// weekday reads the English name of a day.
func weekday(name string) (time.Weekday, bool) {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.EqualFold(d.String(), name) {
			return d, true
		}
	}
	return 0, false
}

func (c *config) validateSources(wrong *mistakes) {
	if len(c.Sources) == 0 {
		wrong.add("sources", 0, "must name at least one Kafka cluster or SQS account")
	}
	seen := map[string]bool{}
	for i, s := range c.Sources {
		path := fmt.Sprintf("sources[%d]", i)
		switch {
		case s.Name == "":
			wrong.add(path+".name", 0, "is missing")
		case seen[s.Name]:
			wrong.add(path+".name", 0, "%q is the name of another source already", s.Name)
		}
		seen[s.Name] = true
		switch {
		case s.Kafka == nil && s.SQS == nil:
			wrong.add(path, 0, "must have a kafka or an sqs block")
		case s.Kafka != nil && s.SQS != nil:
			wrong.add(path, 0, "has both a kafka and an sqs block: make them two sources")
		case s.Kafka != nil:
			s.Kafka.validate(s.Name, path+".kafka", wrong)
		default:
			s.SQS.validate(s.Name, path+".sqs", wrong)
		}
	}
}
