package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// maxDecompressed bounds what one batch of a stranger may unpack to. The
// largest record that brokers take by default is 1 MiB; some are set to 10.
const maxDecompressed = 64 << 20

// clientOptions are those of the one client of a source. It keeps its
// connections for as long as brokers do by default (connections.max.idle.ms
// is ten minutes), because each new one costs requests of its own.
func (c Config) clientOptions() ([]kgo.Opt, error) {
	opts := []kgo.Opt{
		kgo.SeedBrokers(c.Brokers...), kgo.ClientID("unwedge"),
		kgo.RequestTimeoutOverhead(c.Timeout), kgo.RequestRetries(2), kgo.RetryTimeout(2 * c.Timeout),
		kgo.ConnIdleTimeout(9 * time.Minute), kgo.MetadataMaxAge(time.Hour),
		kgo.MaxDecompressBatchBytes(maxDecompressed), kgo.DisableClientMetrics(),
		kgo.Dialer(c.dial),
	}
	if c.SASL != nil {
		opts = append(opts, kgo.SASL(c.SASL.mechanism()))
	}
	if c.TLS != nil {
		if _, err := c.TLS.read(""); err != nil {
			return nil, err
		}
	}
	return opts, nil
}

func (c Config) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{Timeout: c.Timeout}
	if c.TLS == nil {
		return d.DialContext(ctx, network, address)
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	settings, err := c.TLS.read(host)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	return (&tls.Dialer{NetDialer: d, Config: settings}).DialContext(ctx, network, address)
}

// read makes the settings for a connection to a host from the files as they
// are now.
func (t TLS) read(host string) (*tls.Config, error) {
	settings := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("tls.ca_file: %w", err)
		}
		settings.RootCAs = x509.NewCertPool()
		if !settings.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls.ca_file: %s has no certificate in PEM format", t.CAFile)
		}
	}
	if t.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("tls.cert_file and tls.key_file: %w", err)
		}
		settings.Certificates = []tls.Certificate{cert}
	}
	return settings, nil
}

func (s SASL) mechanism() sasl.Mechanism {
	password := func() (string, error) {
		p, err := s.Password()
		if err == nil && p == "" {
			err = errors.New("the password is empty")
		}
		if err != nil {
			return "", fmt.Errorf("%w: sasl.password: %w", ErrLogin, err)
		}
		return p, nil
	}
	auth := func(context.Context) (scram.Auth, error) {
		p, err := password()
		return scram.Auth{User: s.Username, Pass: p}, err
	}
	switch s.Mechanism {
	case "SCRAM-SHA-256":
		return scram.Sha256(auth)
	case "SCRAM-SHA-512":
		return scram.Sha512(auth)
	}
	return plain.Plain(func(context.Context) (plain.Auth, error) {
		p, err := password()
		return plain.Auth{User: s.Username, Pass: p}, err
	})
}
