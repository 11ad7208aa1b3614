package kafka_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/unwedge/unwedge/sources/sourcetest"
)

func TestMain(m *testing.M) { sourcetest.Main(m) }

// fake starts a kfake cluster for one test.
func fake(t testing.TB, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{
		kfake.NumBrokers(1), kfake.BrokerConfigs(map[string]string{
			"group.consumer.heartbeat.interval.ms": "200", "group.share.heartbeat.interval.ms": "200", "message.max.bytes": "20971520",
		}),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestKafkaSuiteOnFake(t *testing.T) {
	c := fake(t)
	sourcetest.KafkaSuite(t, sourcetest.KafkaBench{Address: c.ListenAddrs()[0], Compact: c.Compact})
}

func TestKafkaSuiteOnApacheKafka(t *testing.T) {
	k := sourcetest.SharedKafka(t)
	sourcetest.KafkaSuite(t, sourcetest.KafkaBench{Address: k.Address, Real: true})
}
