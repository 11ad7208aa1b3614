package sourcetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const (
	elasticMQVersion  = "1.6.16"
	localStackVersion = "4.9.2"
)

// SQSServer is a server that speaks SQS. It takes any credentials, and its
// region is us-east-1.
type SQSServer struct {
	*server
	Endpoint string // its address, such as http://127.0.0.1:9324
}

// StartElasticMQ starts an ElasticMQ for one test.
func StartElasticMQ(t testing.TB) *SQSServer {
	t.Helper()
	return forSQSTest(t, "ElasticMQ "+elasticMQVersion, newElasticMQ)
}

// StartLocalStack starts the SQS of LocalStack for one test.
func StartLocalStack(t testing.TB) *SQSServer {
	t.Helper()
	return forSQSTest(t, "LocalStack "+localStackVersion, newLocalStack)
}

func forSQSTest(t testing.TB, name string, start func() (*SQSServer, error)) *SQSServer {
	t.Helper()
	s, err := start()
	orMissing(t, name, err)
	s.forTest(t)
	return s
}

func newElasticMQ() (*SQSServer, error) {
	java, err := java(17)
	if err != nil {
		return nil, err
	}
	lib, err := libraries("elasticmq", elasticMQVersion)
	if err != nil {
		return nil, err
	}
	s := &SQSServer{}
	s.server, err = startAny(func() (*server, error) { return s.prepareElasticMQ(java, lib) })
	return s, err
}

func (s *SQSServer) prepareElasticMQ(java, lib string) (*server, error) {
	port, dir, err := s.place("elasticmq")
	if err != nil {
		return nil, err
	}
	settings := filepath.Join(dir, "elasticmq.conf")
	started := &server{
		name: "ElasticMQ " + elasticMQVersion, dir: dir, ready: answers(s.Endpoint),
		command: func(ctx context.Context) *exec.Cmd {
			return exec.CommandContext(ctx, java, "-Xmx256m", "-Dconfig.file="+settings, "-cp", lib, "org.elasticmq.server.Main")
		},
	}
	text := fmt.Sprintf(elasticMQSettings, port, port, filepath.Join(dir, "queues.conf"), filepath.Join(dir, "messages"))
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		return started, err
	}
	return started, started.start()
}

const elasticMQSettings = `
node-address { protocol = http, host = "127.0.0.1", port = %d, context-path = "" }
rest-sqs { enabled = true, bind-port = %d, bind-hostname = "127.0.0.1", sqs-limits = strict }
rest-stats { enabled = false }
queues-storage { enabled = true, path = %q }
messages-storage { enabled = true, uri = "jdbc:h2:%s" }
aws { region = us-east-1, accountId = 000000000000 }
`

func newLocalStack() (*SQSServer, error) {
	python, err := python()
	if err != nil {
		return nil, err
	}
	env, err := virtualenv("localstack", localStackVersion, python)
	if err != nil {
		return nil, missing{err.Error()}
	}
	s := &SQSServer{}
	s.server, err = startAny(func() (*server, error) { return s.prepareLocalStack(env) })
	return s, err
}

func (s *SQSServer) prepareLocalStack(env string) (*server, error) {
	port, dir, err := s.place("localstack")
	if err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	started := &server{
		name: "LocalStack " + localStackVersion, dir: dir, ready: answers(s.Endpoint + "/_localstack/health"),
		command: func(ctx context.Context) *exec.Cmd {
			cmd := exec.CommandContext(ctx, filepath.Join(env, "bin", "python"), "-m", "localstack.runtime.main")
			cmd.Env = append(os.Environ(), "GATEWAY_SERVER=hypercorn", "FILESYSTEM_ROOT="+dir, "GATEWAY_LISTEN="+address,
				"LOCALSTACK_HOST="+address, "SERVICES=sqs", "STRICT_SERVICE_LOADING=1", "DISABLE_EVENTS=1",
				"SKIP_SSL_CERT_DOWNLOAD=1", "DNS_ADDRESS=0")
			return cmd
		},
	}
	return started, started.start()
}

// place finds a port and a directory for a server.
func (s *SQSServer) place(name string) (port int, dir string, err error) {
	ports, err := freePorts(1)
	if err != nil {
		return 0, "", err
	}
	s.Endpoint = fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	dir, err = runDir(name)
	return ports[0], dir, err
}
