package sourcetest

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

func TestMain(m *testing.M) { Main(m) }

func kafkaClient(t *testing.T, address string, opts ...kgo.Opt) *kadm.Client {
	t.Helper()
	client, err := kgo.NewClient(append(opts, kgo.SeedBrokers(address))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return kadm.NewClient(client)
}

func TestKafkaKeepsItsDataThroughKill(t *testing.T) {
	k := StartKafka(t, KafkaOptions{SASL: true})
	if _, err := kafkaClient(t, k.Address).CreateTopic(t.Context(), 1, 1, nil, "kept"); err != nil {
		t.Fatal(err)
	}
	k.Kill()
	k.Restart(t)
	admin := scram.Auth{User: "admin", Pass: "admin-secret"}.AsSha512Mechanism()
	topics, err := kafkaClient(t, k.SASLAddress, kgo.SASL(admin)).ListTopics(t.Context())
	if err != nil || !topics.Has("kept") {
		t.Errorf("after kill -9 and a restart: %v, %v", topics.Names(), err)
	}
}

func TestSharedServersAreStartedOnce(t *testing.T) {
	first, second := SharedElasticMQ(t), SharedElasticMQ(t)
	if first != second {
		t.Errorf("ElasticMQ was started at %s and at %s", first.Endpoint, second.Endpoint)
	}
}

func TestServersAreNamedWithTheirVersion(t *testing.T) {
	for server, want := range map[string][2]string{
		"Apache Kafka 4.4.0": {"Apache Kafka", "4.4.0"},
		"Chromium":           {"Chromium", ""},
		"our own endpoint":   {"our own endpoint", ""},
	} {
		if name, version := splitVersion(server); name != want[0] || version != want[1] {
			t.Errorf("%q is %q of version %q", server, name, version)
		}
	}
}
