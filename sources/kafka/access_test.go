package kafka_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/kafka"
	"github.com/unwedge/unwedge/sources/sourcetest"
)

var mechanisms = []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}

func login(mechanism, user, password string) func(*kafka.Config) {
	return func(c *kafka.Config) {
		c.SASL = &kafka.SASL{Mechanism: mechanism, Username: user, Password: func() (string, error) { return password, nil }}
	}
}

// secured starts a kfake with the users of sourcetest.SharedKafka.
func secured(t *testing.T) *bench {
	opts := []kfake.Opt{kfake.EnableSASL(), kfake.EnableACLs()}
	for _, m := range mechanisms {
		opts = append(opts, kfake.Superuser(m, "admin", "admin-secret"), kfake.User(m, "reader", "reader-secret"))
	}
	return on(t, fake(t, opts...), kgo.SASL(plain.Auth{User: "admin", Pass: "admin-secret"}.AsMechanism()))
}

func TestLogin(t *testing.T) {
	t.Run("Fake", func(t *testing.T) {
		b := secured(t)
		testLogin(t, b.ListenAddrs()[0])
		testPermissions(t, b.admin, b.ListenAddrs()[0])
	})
	t.Run("ApacheKafka", func(t *testing.T) {
		k := sourcetest.SharedKafka(t)
		client, err := kgo.NewClient(kgo.SeedBrokers(k.Address), kgo.RecordPartitioner(kgo.ManualPartitioner()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		testLogin(t, k.SASLAddress)
		testPermissions(t, kadm.NewClient(client), k.SASLAddress)
	})
}

func newSource(t *testing.T, address string, change ...func(*kafka.Config)) *kafka.Source {
	t.Helper()
	c := kafka.Config{Name: "k", Brokers: []string{address}, From: kafka.From{All: true}}
	for _, f := range change {
		f(&c)
	}
	s, err := kafka.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func testLogin(t *testing.T, address string) {
	for _, m := range mechanisms {
		t.Run(m, func(t *testing.T) {
			if _, err := newSource(t, address, login(m, "admin", "admin-secret")).Lag(t.Context()); err != nil {
				t.Error(err)
			}
			_, err := newSource(t, address, login(m, "admin", "wrong")).Lag(t.Context())
			if !errors.Is(err, kafka.ErrLogin) || !strings.Contains(err.Error(), "SASL: authentication failed") || strings.Contains(err.Error(), "wrong") {
				t.Errorf("a wrong password: %v", err)
			}
		})
	}
	t.Run("a password that cannot be read", func(t *testing.T) {
		s := newSource(t, address, func(c *kafka.Config) {
			c.SASL = &kafka.SASL{Mechanism: "PLAIN", Username: "admin", Password: func() (string, error) { return "", os.ErrNotExist }}
		})
		if _, err := s.Lag(t.Context()); !errors.Is(err, kafka.ErrLogin) || !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	})
}

// allow lets the reader do something with a topic or group.
func allow(t *testing.T, admin *kadm.Client, b *kadm.ACLBuilder, operations ...kadm.ACLOperation) {
	t.Helper()
	results, err := admin.CreateACLs(t.Context(), b.Allow("User:reader").AllowHosts().Operations(operations...).ResourcePatternType(kadm.ACLPatternLiteral))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
}

// testPermissions: who may see little sees that, and is told of the rest.
func testPermissions(t *testing.T, admin *kadm.Client, address string) {
	t.Run("permissions", func(t *testing.T) {
		reader := func() *kafka.Source {
			return newSource(t, address, login("SCRAM-SHA-512", "reader", "reader-secret"), func(c *kafka.Config) {
				c.Routes = []sources.Route{{From: "seen.dlq", To: "seen"}}
			})
		}
		s := reader()
		groups, err := s.Lag(t.Context())
		tried := s.Check(t.Context())
		if err != nil || len(groups) != 0 || len(withOutcome(tried, sources.Unconfirmed)) < 2 {
			t.Errorf("without permissions: %v, %v, %+v", groups, err, tried)
		}
		for _, name := range []string{"seen", "hidden", "seen.dlq"} {
			if _, err := admin.CreateTopic(t.Context(), 1, 1, nil, name); err != nil {
				t.Fatal(err)
			}
		}
		var o kadm.Offsets
		o.Add(kadm.Offset{Topic: "seen", At: 0, LeaderEpoch: -1})
		o.Add(kadm.Offset{Topic: "hidden", At: 0, LeaderEpoch: -1})
		waitFor(t, "the topics take commits", func() error { return admin.CommitAllOffsets(t.Context(), "seen-group", o) })
		allow(t, admin, kadm.NewACLs().Topics("seen", "seen.dlq"), kadm.OpDescribe)
		allow(t, admin, kadm.NewACLs().Groups("seen-group"), kadm.OpDescribe)
		waitFor(t, "the group is seen", func() error {
			groups, err = s.Lag(t.Context())
			if err != nil || len(groups) != 1 || groups[0].Err != nil {
				return fmt.Errorf("%+v, %w", groups, errors.Join(err))
			}
			return nil
		})
		for _, l := range groups[0].Lines {
			if l.Topic == "seen" && l.Err != nil || l.Topic == "hidden" && !errors.Is(l.Err, sources.ErrNotAuthorised) {
				t.Errorf("%+v", l)
			}
		}
		if batch, err := s.DeadLetters(t.Context(), "seen.dlq", nil, 10); err != nil {
			t.Errorf("an empty topic that may be described: %+v, %v", batch, err)
		}
		text := fmt.Sprint(withOutcome(reader().Check(t.Context()), sources.Denied))
		if !strings.Contains(text, "Read on topic seen.dlq") || !strings.Contains(text, "Write on topic seen") {
			t.Errorf("missing: %s", text)
		}
		testMayNotRead(t, s)
	})
}

func withOutcome(all []sources.Checked, outcome sources.Outcome) []sources.Checked {
	return slices.DeleteFunc(slices.Clone(all), func(c sources.Checked) bool { return c.Outcome != outcome })
}

func testMayNotRead(t *testing.T, s *kafka.Source) {
	if _, err := s.Heads(t.Context(), []sources.Lag{{Partition: sources.Partition{Group: "seen-group", Topic: "hidden"}, StableEnd: 5, End: 5}}); err == nil {
		t.Error("a look into a hidden topic has no error")
	}
	shipments, refused, err := s.Pack(t.Context(), []sources.Parcel{{Item: "i", Target: sources.Target{Queue: "seen", Partition: number(0)}, Body: []byte("x")}})
	if err == nil && len(shipments) == 1 {
		receipts, shipErr := s.Ship(t.Context(), shipments[0])
		if shipErr != nil || !errors.Is(receipts[0].Err, sources.ErrNotAuthorised) {
			t.Errorf("send: %+v, %v", receipts, shipErr)
		}
		return
	}
	if refused["i"] != nil {
		err = refused["i"]
	}
	if !errors.Is(err, sources.ErrNotAuthorised) {
		t.Errorf("send: %v", err)
	}
}

// waitFor waits for a condition, which says what it lacks.
func waitFor(t *testing.T, what string, holds func() error) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for err := holds(); err != nil; err = holds() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		<-time.After(50 * time.Millisecond)
	}
}

// certificate makes a certificate signed by an authority, or an authority
// itself, and writes both files.
type certificate struct {
	cert     *x509.Certificate
	key      *ecdsa.PrivateKey
	certFile string
	keyFile  string
}

func newCertificate(t *testing.T, name string, by *certificate) *certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, signer := c, key
	if by == nil {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
	} else {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	out := &certificate{key: key}
	if out.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	out.certFile, out.keyFile = filepath.Join(t.TempDir(), name+".pem"), filepath.Join(t.TempDir(), name+".key")
	for file, block := range map[string]*pem.Block{out.certFile: {Type: "CERTIFICATE", Bytes: der}, out.keyFile: {Type: "EC PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestTLS(t *testing.T) {
	ca, stranger := newCertificate(t, "authority", nil), newCertificate(t, "stranger", nil)
	server, client := newCertificate(t, "server", ca), newCertificate(t, "client", ca)
	pair, err := tls.LoadX509KeyPair(server.certFile, server.keyFile)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	c := fake(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MinVersion: tls.VersionTLS12}))
	for name, try := range map[string]struct {
		tls  *kafka.TLS
		good bool
	}{
		"both certificates":        {&kafka.TLS{CAFile: ca.certFile, CertFile: client.certFile, KeyFile: client.keyFile}, true},
		"another authority":        {&kafka.TLS{CAFile: stranger.certFile, CertFile: client.certFile, KeyFile: client.keyFile}, false},
		"the system's authorities": {&kafka.TLS{CertFile: client.certFile, KeyFile: client.keyFile}, false},
		"no client certificate":    {&kafka.TLS{CAFile: ca.certFile}, false},
		"plain text":               {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSource(t, c.ListenAddrs()[0], func(c *kafka.Config) { c.TLS, c.Timeout = try.tls, time.Second })
			if _, err := s.Lag(t.Context()); (err == nil) != try.good {
				t.Error(err)
			}
		})
	}
}

func TestConfigTellsAllMistakes(t *testing.T) {
	secret := func() (string, error) { return "x", nil }
	for want, c := range map[string]kafka.Config{
		"brokers":           {},
		"brokers[1]":        {Brokers: []string{"a:1", "b"}},
		"sasl.mechanism":    {Brokers: []string{"a:1"}, SASL: &kafka.SASL{Mechanism: "OAUTHBEARER", Username: "u", Password: secret}},
		"sasl.username":     {Brokers: []string{"a:1"}, SASL: &kafka.SASL{Mechanism: "PLAIN", Password: secret}},
		"sasl.password":     {Brokers: []string{"a:1"}, SASL: &kafka.SASL{Mechanism: "PLAIN", Username: "u"}},
		"tls":               {Brokers: []string{"a:1"}, TLS: &kafka.TLS{CertFile: "x"}},
		"dead_letters.from": {Brokers: []string{"a:1"}, From: kafka.From{Latest: true, All: true}},
		"redrive[0]":        {Brokers: []string{"a:1"}, Routes: []sources.Route{{From: "a"}}},
		"redrive[0].to":     {Brokers: []string{"a:1"}, Routes: []sources.Route{{From: "a", To: "__b"}}},
	} {
		errs := c.Validate()
		if len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), want+": ") {
			t.Errorf("%s: %v", want, errs)
		}
		if _, err := kafka.New(c); err == nil {
			t.Errorf("%s: New takes it", want)
		}
	}
	for _, m := range []string{"OAUTHBEARER", "AWS_MSK_IAM"} {
		errs := kafka.Config{Brokers: []string{"a:1"}, SASL: &kafka.SASL{Mechanism: m, Username: "u", Password: secret}}.Validate()
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), m) || !strings.Contains(errs[0].Error(), "not supported yet") {
			t.Errorf("%s: %v", m, errs)
		}
	}
	if errs := (kafka.Config{Brokers: []string{"a:1"}}).Validate(); len(errs) != 0 {
		t.Errorf("a good one: %v", errs)
	}
}
