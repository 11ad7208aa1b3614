package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const kafkaVersion = "4.4.0"

// KafkaOptions is how a Kafka server is set up.
type KafkaOptions struct {
	// SASL adds a SASL_PLAINTEXT listener (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512)
	// and an authoriser: user admin with password admin-secret may do all,
	// reader with reader-secret nothing until ACLs are given over the plaintext
	// listener, which is the super user.
	SASL bool
	// Properties are added to server.properties, and win over ours.
	Properties map[string]string
}

// KafkaServer is an Apache Kafka of one node, in KRaft mode.
type KafkaServer struct {
	*server
	Address     string // of the plaintext listener
	SASLAddress string // "" without KafkaOptions.SASL
}

// StartKafka starts an Apache Kafka for one test. Most tests can do with
// SharedKafka, which is started once per test binary.
func StartKafka(t testing.TB, o KafkaOptions) *KafkaServer {
	t.Helper()
	k, err := newKafka(o)
	orMissing(t, "Apache Kafka "+kafkaVersion, err)
	k.forTest(t)
	return k
}

func newKafka(o KafkaOptions) (*KafkaServer, error) {
	java, err := java(17)
	if err != nil {
		return nil, err
	}
	lib, err := libraries("kafka", kafkaVersion)
	if err != nil {
		return nil, err
	}
	k := &KafkaServer{}
	k.server, err = startAny(func() (*server, error) { return k.prepare(o, java, lib) })
	return k, err
}

// libraries fetches the jars of a server, for which mvn is needed only once.
func libraries(name, version string) (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	if !there(filepath.Join(cache, name+"-"+version)) {
		if err := maven(); err != nil {
			return "", err
		}
	}
	dir, err := jars(name, version)
	if err != nil {
		return "", missing{err.Error()}
	}
	return filepath.Join(dir, "*"), nil
}

// prepare writes the settings, formats the storage and starts the server.
func (k *KafkaServer) prepare(o KafkaOptions, java, lib string) (*server, error) {
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	dir, err := runDir("kafka")
	if err != nil {
		return nil, err
	}
	k.Address = fmt.Sprintf("127.0.0.1:%d", ports[0])
	if o.SASL {
		k.SASLAddress = fmt.Sprintf("127.0.0.1:%d", ports[2])
	}
	properties := filepath.Join(dir, "server.properties")
	text := kafkaProperties(dir, k.Address, fmt.Sprintf("127.0.0.1:%d", ports[1]), k.SASLAddress, o.Properties)
	s := &server{
		name: "Apache Kafka " + kafkaVersion, dir: dir, ready: kafkaAnswers(k.Address),
		command: func(ctx context.Context) *exec.Cmd {
			return exec.CommandContext(ctx, java, "-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", lib, "kafka.Kafka", properties)
		},
	}
	if err := os.WriteFile(properties, []byte(text), 0o600); err != nil {
		return s, err
	}
	if err := run(java, formatArguments(lib, properties, o.SASL)...); err != nil {
		return s, fmt.Errorf("format the storage of Kafka: %w", err)
	}
	return s, s.start()
}

func formatArguments(lib, properties string, sasl bool) []string {
	args := []string{"-cp", lib, "kafka.tools.StorageTool", "format", "-t", "AAAAAAAAAAAAAAAAAAAAAQ", "-c", properties, "--standalone"}
	if sasl {
		args = append(args, "--add-scram", "SCRAM-SHA-512=[name=admin,password=admin-secret]",
			"--add-scram", "SCRAM-SHA-512=[name=reader,password=reader-secret]",
			"--add-scram", "SCRAM-SHA-256=[name=admin,password=admin-secret]",
			"--add-scram", "SCRAM-SHA-256=[name=reader,password=reader-secret]")
	}
	return args
}

// kafkaProperties are the settings of one node that is its own controller,
// with few partitions of the internal topics and no pauses for stragglers.
func kafkaProperties(dir, address, controller, sasl string, more map[string]string) string {
	listeners := "PLAINTEXT://" + address
	p := map[string]string{
		"process.roles":                                    "broker,controller",
		"node.id":                                          "1",
		"controller.quorum.bootstrap.servers":              controller,
		"controller.listener.names":                        "CONTROLLER",
		"listener.security.protocol.map":                   "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT",
		"inter.broker.listener.name":                       "PLAINTEXT",
		"log.dirs":                                         filepath.Join(dir, "data"),
		"offsets.topic.num.partitions":                     "4",
		"offsets.topic.replication.factor":                 "1",
		"transaction.state.log.num.partitions":             "4",
		"transaction.state.log.replication.factor":         "1",
		"transaction.state.log.min.isr":                    "1",
		"share.coordinator.state.topic.num.partitions":     "4",
		"share.coordinator.state.topic.replication.factor": "1",
		"share.coordinator.state.topic.min.isr":            "1",
		"group.initial.rebalance.delay.ms":                 "0",
		"log.retention.check.interval.ms":                  "1000",
		"log.cleaner.backoff.ms":                           "1000",
	}
	if sasl != "" {
		listeners += ",SASL://" + sasl
		maps.Copy(p, saslProperties())
	}
	p["advertised.listeners"] = listeners
	p["listeners"] = listeners + ",CONTROLLER://" + controller
	maps.Copy(p, more)
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(&text, "%s=%s\n", key, p[key])
	}
	return text.String()
}

func saslProperties() map[string]string {
	const login = "org.apache.kafka.common.security."
	return map[string]string{
		"sasl.enabled.mechanisms":                           "SCRAM-SHA-256,SCRAM-SHA-512,PLAIN",
		"listener.name.sasl.plain.sasl.jaas.config":         login + `plain.PlainLoginModule required user_reader="reader-secret" user_admin="admin-secret";`,
		"listener.name.sasl.scram-sha-256.sasl.jaas.config": login + "scram.ScramLoginModule required;",
		"listener.name.sasl.scram-sha-512.sasl.jaas.config": login + "scram.ScramLoginModule required;",
		"authorizer.class.name":                             "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users":                                       "User:ANONYMOUS;User:admin",
	}
}

// kafkaAnswers asks for the brokers: an open port alone says little while the
// node registers with its controller.
func kafkaAnswers(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		client, err := kgo.NewClient(kgo.SeedBrokers(address))
		if err != nil {
			return err
		}
		defer client.Close()
		request := kmsg.NewPtrMetadataRequest()
		request.Topics = []kmsg.MetadataRequestTopic{}
		meta, err := request.RequestWith(ctx, client)
		if err != nil {
			return err
		}
		if len(meta.Brokers) == 0 {
			return errors.New("no broker is registered yet")
		}
		return nil
	}
}
