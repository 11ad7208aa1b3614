package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/unwedge/unwedge/sources"
)

var (
	// ErrNoLeader is a partition that no broker leads at the moment: its offsets
	// cannot be read.
	ErrNoLeader = errors.New("no leader")
	// ErrLogin is a log-in that the broker did not accept.
	ErrLogin = errors.New("SASL: authentication failed")
	// ErrTimeout is a broker that did not answer in time.
	ErrTimeout = errors.New("timeout")
)

// denied are the answers by which a broker says that it may not.
var denied = []error{
	kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed,
	kerr.ClusterAuthorizationFailed, kerr.TransactionalIDAuthorizationFailed,
}

// readable puts the sentinel that a person, or a caller, understands in front
// of an error of the client or the broker.
func readable(err error) error {
	switch {
	case err == nil:
		return nil
	case isAny(err, sources.ErrNotAuthorised, ErrLogin, ErrTimeout, ErrNoLeader):
		return err
	case isAny(err, denied...):
		return fmt.Errorf("%w: %w", sources.ErrNotAuthorised, err)
	case isAny(err, kerr.SaslAuthenticationFailed, kerr.UnsupportedSaslMechanism, kerr.IllegalSaslState):
		return fmt.Errorf("%w: %w", ErrLogin, err)
	case isAny(err, kerr.LeaderNotAvailable, kerr.ListenerNotFound):
		return fmt.Errorf("%w: %w", ErrNoLeader, err)
	case isTimeout(err):
		return fmt.Errorf("%w: %w", ErrTimeout, err)
	}
	return err
}

// readable also tells a failed log-in from a lost connection: some brokers
// close it without a word (kfake, and Kafka before 2.2 by KIP-152).
func (s *Source) readable(err error) error {
	if s.cfg.SASL != nil && err != nil && cutShort(err) {
		return fmt.Errorf("%w: the broker closed the connection during or after the log-in (%w)", ErrLogin, err)
	}
	return readable(err)
}

func cutShort(err error) bool {
	first := new(kgo.ErrFirstReadEOF)
	return errors.As(err, &first) || errors.Is(err, io.EOF)
}

func isAny(err error, of ...error) bool {
	for _, e := range of {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &n) && n.Timeout()
}

// lostConnection tells that a connection broke, so that the same request may
// succeed on a new one: a broker that was restarted closes the old ones.
func lostConnection(err error) bool {
	return isAny(err, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE)
}

// code is the error of a Kafka error code with a readable beginning; nil for
// none.
func code(c int16) error { return readable(kerr.ErrorForCode(c)) }

// isDial tells that no connection was made.
func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
