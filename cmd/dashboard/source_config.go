package main

import (
	"fmt"
	"os"
	"time"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/convention"
	"github.com/unwedge/unwedge/sources/kafka"
	"github.com/unwedge/unwedge/sources/registry"
	"github.com/unwedge/unwedge/sources/sqs"
)

type kafkaConfig struct {
	Brokers        []string           `yaml:"brokers"`
	TLS            *tlsConfig         `yaml:"tls"`
	SASL           *saslConfig        `yaml:"sasl"`
	Groups         *patternsConfig    `yaml:"groups"`
	DeadLetters    *deadLettersConfig `yaml:"dead_letters"`
	Mappings       []mappingConfig    `yaml:"mappings"`
	Redrive        []routeConfig      `yaml:"redrive"`
	RedriveTo      *patternsConfig    `yaml:"redrive_to"`
	DropHeaders    []string           `yaml:"drop_headers"`
	SchemaRegistry *registryConfig    `yaml:"schema_registry"`
	Park           []routeConfig      `yaml:"park"`
	Done           []doneConfig       `yaml:"done"`
	Consumers      []consumerConfig   `yaml:"consumers"`
	Links          []linkConfig       `yaml:"links"`
}

// registryConfig says where the schemas of values are.
type registryConfig struct {
	URL      string `yaml:"url"`
	User     string `yaml:"user"`
	Password secret `yaml:"password"`
}

// linkConfig is an address outside that knows more of one record.
type linkConfig struct {
	Name string `yaml:"name"`
	URL  string `yaml:"url"`
}

// doneConfig says where finished work is written down.
type doneConfig struct {
	For   string `yaml:"for"`
	Topic string `yaml:"topic"`
	By    string `yaml:"by"`
}

// consumerConfig says where the workers of groups are stopped and started.
type consumerConfig struct {
	Group  string     `yaml:"group"`
	Stop   callConfig `yaml:"stop"`
	Start  callConfig `yaml:"start"`
	Secret secret     `yaml:"secret"`
}

type callConfig struct {
	URL string `yaml:"url"`
}

type tlsConfig struct {
	CAFile   string `yaml:"ca_file"`
	CertFile string `yaml:"cert_file"`
	KeyFile  string `yaml:"key_file"`
}

type saslConfig struct {
	Mechanism string `yaml:"mechanism"`
	Username  string `yaml:"username"`
	Password  secret `yaml:"password"`
}

// deadLettersConfig selects dead-letter topics, and how far back they are read.
type deadLettersConfig struct {
	Include []string `yaml:"include"`
	Exclude []string `yaml:"exclude"`
	From    string   `yaml:"from"`
}

// mappingConfig is a convention that only the owner of a queue knows.
type mappingConfig struct {
	Queue  string `yaml:"queue"`
	Origin struct {
		Queue     string `yaml:"queue"`
		Partition string `yaml:"partition"`
		Offset    string `yaml:"offset"`
		Group     string `yaml:"group"`
	} `yaml:"origin"`
	Reason struct {
		Class   string `yaml:"class"`
		Message string `yaml:"message"`
		Stack   string `yaml:"stack"`
	} `yaml:"reason"`
	Attempts string `yaml:"attempts"`
	FailedAt string `yaml:"failed_at"`
}

type sqsConfig struct {
	Region      string          `yaml:"region"`
	Endpoint    string          `yaml:"endpoint"`
	Queues      *patternsConfig `yaml:"queues"`
	DeadLetters *patternsConfig `yaml:"dead_letters"`
	Mappings    []mappingConfig `yaml:"mappings"`
	Redrive     []routeConfig   `yaml:"redrive"`
	ScanEvery   span            `yaml:"scan_every"`
	DrainFIFO   laterKey        `yaml:"drain_fifo"`
}

// tell adds what an adapter does not like about its part of the file.
func (m *mistakes) tell(path string, errs []error) {
	for _, err := range errs {
		*m = append(*m, fmt.Errorf("%s.%w", path, err))
	}
}

func (k *kafkaConfig) validate(name, path string, wrong *mistakes) {
	wrong.tell(path, k.source(name).Validate())
	if k.DeadLetters != nil {
		if _, err := parseFrom(k.DeadLetters.From); err != nil {
			wrong.add(path+".dead_letters.from", 0, "%w", err)
		}
	}
	for i, d := range k.Done {
		if _, err := sources.ParseField(d.By); d.By != "" && err != nil {
			wrong.add(fmt.Sprintf("%s.done[%d].by", path, i), 0, "%w", err)
		}
	}
	k.validateConsumers(path, wrong)
	for i, l := range k.addresses() {
		if err := l.Validate(); err != nil {
			wrong.add(fmt.Sprintf("%s.links[%d]", path, i), 0, "%w", err)
		}
	}
	if k.SchemaRegistry != nil {
		if err := k.SchemaRegistry.config().Validate(); err != nil {
			*wrong = append(*wrong, fmt.Errorf("%s.schema_registry.%w", path, err))
		}
	}
	if k.TLS != nil {
		for key, file := range map[string]string{"ca_file": k.TLS.CAFile, "cert_file": k.TLS.CertFile, "key_file": k.TLS.KeyFile} {
			if _, err := os.ReadFile(file); file != "" && err != nil {
				wrong.add(path+".tls."+key, 0, "%w", err)
			}
		}
	}
}

// source is the block as the Kafka adapter wants it.
func (k *kafkaConfig) source(name string) kafka.Config {
	c := kafka.Config{
		Name: name, Brokers: k.Brokers, Routes: routes(k.Redrive), Park: routes(k.Park), Mappings: mappings(k.Mappings),
		Groups: k.Groups.or(nil), RedriveTo: k.RedriveTo.or(nil), Done: k.finished(),
	}
	if k.DeadLetters != nil {
		c.DeadLetters = sources.Patterns{Include: k.DeadLetters.Include, Exclude: k.DeadLetters.Exclude}
		c.From, _ = parseFrom(k.DeadLetters.From) // validate tells
	}
	if k.TLS != nil {
		c.TLS = &kafka.TLS{CAFile: k.TLS.CAFile, CertFile: k.TLS.CertFile, KeyFile: k.TLS.KeyFile}
	}
	if k.SASL != nil {
		c.SASL = &kafka.SASL{Mechanism: k.SASL.Mechanism, Username: k.SASL.Username}
		if k.SASL.Password.set {
			c.SASL.Password = k.SASL.Password.read
		}
	}
	return c
}

// addresses are the configured links.
func (k *kafkaConfig) addresses() (out sources.Links) {
	for _, l := range k.Links {
		out = append(out, sources.Link(l))
	}
	return out
}

func (r *registryConfig) config() registry.Config {
	c := registry.Config{URL: r.URL, User: r.User}
	if r.Password.set {
		c.Password = r.Password.read
	}
	return c
}

// finished is where finished work is written down.
func (k *kafkaConfig) finished() (out []sources.Finished) {
	for _, d := range k.Done {
		by, err := sources.ParseField(d.By)
		if err != nil && d.By != "" {
			by = sources.Field{In: sources.InKey} // validate tells what is wrong with it
		}
		out = append(out, sources.Finished{For: d.For, Topic: d.Topic, By: by})
	}
	return out
}

func parseFrom(text string) (kafka.From, error) {
	switch text {
	case "":
		return kafka.From{}, nil
	case "latest":
		return kafka.From{Latest: true}, nil
	case "all":
		return kafka.From{All: true}, nil
	}
	age, err := parseSpan(text)
	if err != nil {
		return kafka.From{}, fmt.Errorf("%q is neither latest nor all nor a length of time such as 30d", text)
	}
	return kafka.From{Age: time.Duration(age)}, nil
}

func (s *sqsConfig) validate(name, path string, wrong *mistakes) {
	wrong.tell(path, s.source(name).Validate())
	wrong.tell(path, mappings(s.Mappings).Validate())
}

// source is the block as the SQS adapter wants it.
func (s *sqsConfig) source(name string) sqs.Config {
	return sqs.Config{
		Name: name, Region: s.Region, Endpoint: s.Endpoint, Routes: routes(s.Redrive),
		Queues: s.Queues.or([]string{"*"}), DeadLetters: s.DeadLetters.or(nil),
		ScanEvery: time.Duration(s.ScanEvery),
	}
}

func mappings(list []mappingConfig) (out convention.Mappings) {
	for _, m := range list {
		out = append(out, convention.Mapping{
			Queue:  m.Queue,
			Origin: convention.OriginMapping(m.Origin), Reason: convention.ReasonMapping(m.Reason),
			Attempts: m.Attempts, FailedAt: m.FailedAt,
		})
	}
	return out
}
