package sourcetest

import (
	"errors"
	"os"
	"sync"
	"testing"
)

// shared is a server that is started once per test binary, by the first test
// that asks for it.
type shared[S any] struct {
	name  string
	start func() (S, error)
	once  sync.Once
	got   S
	err   error
}

var (
	sharedKafka = &shared[*KafkaServer]{name: "Apache Kafka " + kafkaVersion, start: func() (*KafkaServer, error) {
		return newKafka(KafkaOptions{SASL: true})
	}}
	sharedElasticMQ  = &shared[*SQSServer]{name: "ElasticMQ " + elasticMQVersion, start: newElasticMQ}
	sharedLocalStack = &shared[*SQSServer]{name: "LocalStack " + localStackVersion, start: newLocalStack}
)

// SharedKafka is the Apache Kafka of this test binary, with both listeners of
// KafkaOptions.SASL. Tests share it: they name their topics and groups apart,
// and do not kill it.
func SharedKafka(t testing.TB) *KafkaServer { t.Helper(); return sharedKafka.get(t) }

// SharedElasticMQ is the ElasticMQ of this test binary.
func SharedElasticMQ(t testing.TB) *SQSServer { t.Helper(); return sharedElasticMQ.get(t) }

// SharedLocalStack is the LocalStack of this test binary.
func SharedLocalStack(t testing.TB) *SQSServer { t.Helper(); return sharedLocalStack.get(t) }

func (s *shared[S]) get(t testing.TB) S {
	t.Helper()
	s.once.Do(func() {
		if s.got, s.err = s.start(); s.err == nil {
			stopLater(any(s.got).(interface{ stop() }).stop)
		}
	})
	orMissing(t, s.name, s.err)
	Report(t, s.name, "ran")
	return s.got
}

var stops struct {
	sync.Mutex
	all []func()
}

func stopLater(stop func()) {
	stops.Lock()
	defer stops.Unlock()
	stops.all = append(stops.all, stop)
}

// StopShared stops the shared servers of this test binary and removes their
// data. On Linux they die with the process in any case.
func StopShared() {
	stops.Lock()
	defer stops.Unlock()
	for _, stop := range stops.all {
		stop()
	}
	stops.all = nil
}

// Main is a TestMain that stops the shared servers after the tests:
//
//	func TestMain(m *testing.M) { sourcetest.Main(m) }
func Main(m *testing.M) {
	code := m.Run()
	StopShared()
	os.Exit(code)
}

// orMissing skips the test when a tool is missing, and fails it when a server
// that is here did not start.
func orMissing(t testing.TB, name string, err error) {
	t.Helper()
	if lacking := (missing{}); errors.As(err, &lacking) {
		Missing(t, name, lacking.why)
	}
	if err != nil {
		t.Fatal(err)
	}
}
