//go:build campaign

package campaign

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// fate is what becomes of a request.
type fate int

const (
	pass        fate = iota
	loseRequest      // the connection breaks before it is forwarded
	loseAnswer       // it is done, and the connection breaks before the answer
	denyAnswer       // it is done, and the answer says that the batch is not known (Kafka)
)

// chance gives fates at random, until it is healed.
type chance struct {
	mu     sync.Mutex
	rnd    *rand.Rand
	fates  []fate
	one    int // in so many has a fate other than pass
	lost   int
	healed bool
}

func newChance(seed uint64, one int, fates ...fate) *chance {
	return &chance{rnd: rand.New(rand.NewPCG(seed, 7)), one: one, fates: fates}
}

func (c *chance) next() fate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.healed || c.rnd.IntN(c.one) > 0 {
		return pass
	}
	c.lost++
	return c.fates[c.rnd.IntN(len(c.fates))]
}

func (c *chance) heal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.healed = true
}

// lossySQS is a way to an SQS endpoint on which requests of some kinds meet
// their fates.
func lossySQS(t testing.TB, endpoint string, c *chance, actions ...string) string {
	t.Helper()
	to, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(to)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		fate := pass
		if slices.Contains(actions, action) {
			fate = c.next()
		}
		switch fate {
		case loseRequest:
			panic(http.ErrAbortHandler)
		case loseAnswer:
			forward.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// lossyKafka is a way to a broker on which produce requests meet their fates.
// Answers that name the broker's address name ours instead: they have the same
// length.
type lossyKafka struct {
	to     string
	chance *chance
	theirs []byte // host and port as they stand in an answer
	ours   []byte
}

const produceKey = 0

func startLossyKafka(t testing.TB, broker string, c *chance) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	k := &lossyKafka{to: broker, chance: c, theirs: hostPort(t, broker), ours: hostPort(t, address)}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go k.serve(client)
		}
	}()
	t.Cleanup(func() { l.Close() })
	return address
}

func hostPort(t testing.TB, address string) []byte {
	t.Helper()
	host, port, _ := net.SplitHostPort(address)
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return binary.BigEndian.AppendUint32([]byte(host), uint32(n))
}

// asked is a request that is on its way.
type asked struct {
	key, version int16
	fate         fate
}

func (k *lossyKafka) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", k.to)
	if err != nil {
		return
	}
	defer server.Close()
	var mu sync.Mutex
	waiting := map[int32]asked{}
	go func() {
		defer server.Close()
		for {
			frame, err := readFrame(client)
			if err != nil {
				return
			}
			a := asked{int16(binary.BigEndian.Uint16(frame)), int16(binary.BigEndian.Uint16(frame[2:])), pass}
			if a.key == produceKey {
				a.fate = k.chance.next()
			}
			if a.fate == loseRequest {
				return
			}
			mu.Lock()
			waiting[int32(binary.BigEndian.Uint32(frame[4:]))] = a
			mu.Unlock()
			if writeFrame(server, frame) != nil {
				return
			}
		}
	}()
	for {
		frame, err := readFrame(server)
		if err != nil {
			return
		}
		mu.Lock()
		a := waiting[int32(binary.BigEndian.Uint32(frame))]
		mu.Unlock()
		if a.fate == loseAnswer {
			return
		}
		if a.fate == denyAnswer {
			frame = deny(frame, a.version)
		}
		if writeFrame(client, bytes.ReplaceAll(frame, k.theirs, k.ours)) != nil {
			return
		}
	}
}

// deny makes of an answer that a batch was appended one that says that its
// producer is not known: what a broker answers that has forgotten it.
func deny(frame []byte, version int16) []byte {
	answer := kmsg.NewPtrProduceResponse()
	answer.SetVersion(version)
	head := 4
	if answer.IsFlexible() {
		head++ // no tags
	}
	if answer.ReadFrom(frame[head:]) != nil {
		return frame
	}
	for i := range answer.Topics {
		for j := range answer.Topics[i].Partitions {
			p := &answer.Topics[i].Partitions[j]
			p.ErrorCode, p.BaseOffset = kerr.UnknownProducerID.Code, -1
		}
	}
	return answer.AppendTo(slices.Clone(frame[:head]))
}

func readFrame(from net.Conn) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n < 4 || n > 100<<20 {
		return nil, io.ErrUnexpectedEOF
	}
	frame := make([]byte, n)
	_, err := io.ReadFull(from, frame)
	return frame, err
}

func writeFrame(to net.Conn, frame []byte) error {
	_, err := to.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...))
	return err
}
