package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/skips"
	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/convention"
	"github.com/unwedge/unwedge/sources/kafka"
	"github.com/unwedge/unwedge/sources/registry"
	"github.com/unwedge/unwedge/sources/sqs"
	"github.com/unwedge/unwedge/web"
)

// collectKafkaEvery is how often dead-letter topics are asked for news: a new
// letter is listed within five seconds.
const collectKafkaEvery = time.Second

// adapter is a source as both loops and the redrive worker need it.
type adapter interface {
	review.Reader
	review.Sender
	review.Receivers
	review.Destinations
	review.OtherReaders
	Check(ctx context.Context) []sources.Checked
	Close()
}

// source is one configured source, built.
type source struct {
	adapter
	kafka *kafka.Source // nil on SQS
	every time.Duration // between two looks at its dead-letter queues
	kind  string
	rules review.Rules
	// schemas has those of its values; nil: nobody said where they are.
	schemas review.SchemaChecker
}

// buildSources makes the adapters. None connects: what is wrong with a source
// is told by its readings and holds up no other.
func (c *config) buildSources() (list []source, err error) {
	for _, s := range c.Sources {
		one, err := s.build()
		if err != nil {
			closeSources(list)
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

func closeSources(list []source) {
	for _, s := range list {
		s.Close()
	}
}

func (s sourceConfig) build() (source, error) {
	if s.Kafka != nil {
		return s.Kafka.build(s.Name)
	}
	return s.SQS.build(s.Name)
}

func (k *kafkaConfig) build(name string) (source, error) {
	c := k.source(name)
	built, err := kafka.New(c)
	if err != nil {
		return source{}, err
	}
	schemas, err := k.schemas()
	return source{
		adapter: built, kafka: built, every: collectKafkaEvery, kind: counted("Kafka", len(c.Brokers), "broker"), schemas: schemas,
		rules: review.Rules{Routes: c.Routes, To: k.RedriveTo.or([]string{"*"}), DropHeaders: k.DropHeaders, Done: c.Done, Names: convention.Parents},
	}, err
}

// schemas is the schema registry of a source; nil when none is configured.
func (k *kafkaConfig) schemas() (review.SchemaChecker, error) {
	if k.SchemaRegistry == nil {
		return nil, nil //nolint:nilnil // there is none, and that is no mistake
	}
	return registry.New(k.SchemaRegistry.config())
}

func (q *sqsConfig) build(name string) (source, error) {
	names := &queueNames{}
	c := q.source(name)
	c.Recogniser = convention.New(mappings(q.Mappings), names.all)
	built, err := sqs.New(c)
	return source{
		adapter: namedSQS{built, names}, every: cmp.Or(c.ScanEvery, sqs.DefaultScanEvery), kind: "SQS, " + c.Region,
		rules: review.Rules{Routes: c.Routes, To: sources.Patterns{Include: []string{"*"}}, Names: convention.Parents},
	}, err
}

func counted(what string, n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%s, %d %s", what, n, noun)
}

// namedSQS is an SQS source that remembers the names of its queues for the
// conventions' name rules.
type namedSQS struct {
	*sqs.Source
	names *queueNames
}

// Queues reads the queues.
func (s namedSQS) Queues(ctx context.Context) ([]sources.Queue, error) {
	queues, err := s.Source.Queues(ctx)
	if err == nil {
		s.names.set(queues)
	}
	return queues, err
}

// queueNames are the names of a source's queues as last read.
type queueNames struct {
	mu   sync.Mutex
	list []string
}

func (q *queueNames) set(queues []sources.Queue) {
	list := make([]string, len(queues))
	for i, one := range queues {
		list[i] = one.Name
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = list
}

func (q *queueNames) all() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.list
}

// rules are the configured rules as the detector wants them.
func (c *config) rules() alerts.Rules {
	r := alerts.Rules{PollEvery: time.Duration(c.Alerts.PollEvery), StallAfter: time.Duration(c.Alerts.StallAfter)}
	for _, one := range c.Alerts.Rules {
		active, _ := alerts.ParseSchedule(one.Active, c.zone()) // validate tells
		r.List = append(r.List, alerts.Rule{
			Source: one.Source, Group: one.Group, Topic: one.Topic, StallAfter: time.Duration(one.StallAfter),
			BehindAfter: time.Duration(one.BehindAfter), Active: active, Page: alerts.Paging(one.Page), Severity: one.Severity, Owner: one.Owner, Runbook: one.Runbook, Notify: one.Notify,
		})
	}
	return r
}

func (c *config) zone() *time.Location {
	zone, err := time.LoadLocation(c.TimeZone)
	if err != nil {
		return time.UTC // validate has refused it
	}
	return zone
}

func (c *config) weekly() review.Weekly {
	day, _ := weekday(c.Review.Day)
	at, _ := time.Parse("15:04", c.Review.At) // validate has read both
	return review.Weekly{Day: day, At: time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, Zone: c.zone()}
}

// watched are the sources that have consumer groups.
func watched(list []source) (out []alerts.Watched) {
	for _, s := range list {
		if s.kafka != nil {
			out = append(out, alerts.Watched{Name: s.Name(), Lag: s.kafka, Heads: s.kafka, Records: s.kafka, Transactions: s.kafka})
		}
	}
	return out
}

func feeds(list []source) (out []review.Feed) {
	for _, s := range list {
		out = append(out, review.Feed{Reader: s.adapter, Every: s.every})
	}
	return out
}

// senders and outlets are the sources as the redrive worker and the desk see
// them.
func skippable(list []source) map[string]skips.Source {
	out := map[string]skips.Source{}
	for _, s := range list {
		if s.kafka != nil {
			out[s.Name()] = s.kafka
		}
	}
	return out
}

func senders(list []source) map[string]review.Sender {
	out := map[string]review.Sender{}
	for _, s := range list {
		out[s.Name()] = s.adapter
	}
	return out
}

func outlets(list []source) map[string]review.Outlet {
	out := map[string]review.Outlet{}
	for _, s := range list {
		outlet := review.Outlet{Sender: s.adapter, Destinations: s.adapter, OtherReaders: s.adapter, Schemas: s.schemas, Rules: s.rules}
		if s.kafka != nil { // nobody can tell who reads an SQS queue, and none can be looked through
			outlet.Receivers, outlet.Past = s.adapter, s.kafka
		}
		out[s.Name()] = outlet
	}
	return out
}

// readers are the sources that know who reads their queues: nobody can tell who
// reads an SQS queue.
func readers(list []source) map[string]review.Receivers {
	out := map[string]review.Receivers{}
	for _, s := range list {
		if s.kafka != nil {
			out[s.Name()] = s.adapter
		}
	}
	return out
}

// takers are the sources from whose queues letters are taken off.
func takers(list []source) map[string]review.Taker {
	out := map[string]review.Taker{}
	for _, s := range list {
		if t, ok := s.adapter.(review.Taker); ok {
			out[s.Name()] = t
		}
	}
	return out
}

// passers are the sources that can tell how far their queues were read.
func passers(list []source) map[string]review.Passer {
	out := map[string]review.Passer{}
	for _, s := range list {
		if s.kafka != nil {
			out[s.Name()] = s.kafka
		}
	}
	return out
}

// faces are the sources as the pages name them.
func (c *config) faces(list []source) (out []web.Source, rules map[string]review.Rules) {
	rules = map[string]review.Rules{}
	for _, s := range list {
		face := web.Source{Name: s.Name(), Kind: s.kind, Every: s.every}
		if s.kafka != nil {
			face.Every = time.Duration(c.Alerts.PollEvery)
		}
		face.Links = c.links()[s.Name()]
		out = append(out, face)
		rules[s.Name()] = s.rules
	}
	return out, rules
}

// links are the configured links, by source.
func (c *config) links() map[string]sources.Links {
	all := map[string]sources.Links{}
	for _, s := range c.Sources {
		if s.Kafka != nil {
			all[s.Name] = s.Kafka.addresses()
		}
	}
	return all
}

// remark says at start which patterns match nothing, and which look like
// regular expressions: patterns are globs.
func (c *config) remark(log *slog.Logger) {
	for path, patterns := range c.patterns() {
		for _, p := range patterns {
			if sources.LooksLikeRegexp(p) {
				log.Warn("a pattern looks like a regular expression; patterns are globs over the whole name", "key", path, "pattern", p)
			}
		}
	}
	if c.BaseURL == "" {
		log.Warn("base_url is not set: pages will have no link; set it to the address that people open")
	}
}

// patterns are all patterns of the file by their keys' paths.
func (c *config) patterns() map[string][]string {
	all := map[string][]string{}
	add := func(path string, p *patternsConfig) {
		if p != nil {
			all[path+".include"], all[path+".exclude"] = p.Include, p.Exclude
		}
	}
	for i, s := range c.Sources {
		path := fmt.Sprintf("sources[%d].", i)
		switch {
		case s.Kafka != nil:
			add(path+"kafka.groups", s.Kafka.Groups)
			add(path+"kafka.redrive_to", s.Kafka.RedriveTo)
			for j, d := range s.Kafka.Done {
				all[fmt.Sprintf("%skafka.done[%d].for", path, j)] = []string{d.For}
			}
			if d := s.Kafka.DeadLetters; d != nil {
				add(path+"kafka.dead_letters", &patternsConfig{d.Include, d.Exclude})
			}
		case s.SQS != nil:
			add(path+"sqs.queues", s.SQS.Queues)
			add(path+"sqs.dead_letters", s.SQS.DeadLetters)
		}
	}
	for i, r := range c.Alerts.Rules {
		all[fmt.Sprintf("alerts.rules[%d]", i)] = []string{r.Source, r.Group, r.Topic}
	}
	for i, b := range c.Alerts.DeadLetters {
		all[fmt.Sprintf("alerts.dead_letters[%d]", i)] = []string{b.Source, b.Queue}
	}
	return all
}

// remarkSources says at start which patterns select nothing, and which
// permissions are missing. Nobody waits for it.
func remarkSources(ctx context.Context, list []source, log *slog.Logger) {
	for _, s := range list {
		for _, one := range s.Check(ctx) {
			if one.Outcome == sources.Unmatched || one.Outcome == sources.Denied {
				log.Warn("a remark on the configuration", "source", s.Name(), "what", one.What, "outcome", string(one.Outcome), "right", one.Right, "detail", one.Detail)
			}
		}
	}
}
