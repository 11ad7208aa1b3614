package campaign

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// letter is an original: what was dead-lettered, and so what must arrive.
type letter struct {
	number  int
	where   string // partition/offset, or the message's id
	id      string // the program's, once it is listed
	cause   string
	group   string // FIFO message group
	key     []byte
	body    []byte
	headers []header
	system  string // AWSTraceHeader
	at      time.Time
	origin  time.Time // timestamp of the original record, as its convention recorded it; zero: at
	// framework are the names of the headers that a convention wrote: the only
	// ones that a plan may drop.
	framework []string
	print     string // of what must arrive
}

// header is a Kafka header or an SQS attribute.
type header struct {
	name, kind string
	value      []byte
}

// arrival is what lies on the target.
type arrival struct {
	print   string // without what the program added
	lineage string // what its header says: "item letter"; "" when there is none
	where   string
	group   string
	order   string // FIFO sequence number
	origin  string // unwedge-original-timestamp
	key     []byte
	size    int
}

// The names of what the program adds, as docs/redrive.md has them.
const (
	lineageHeader = "unwedge-redrive"
	originHeader  = "unwedge-original-timestamp"
)

// fingerprint is a hash over key, body and headers, null told from empty.
func fingerprint(key, body []byte, headers []header, system string) string {
	h := sha256.New()
	part := func(b []byte) {
		n := int64(len(b))
		if b == nil {
			n = -1
		}
		_ = binary.Write(h, binary.BigEndian, n)
		h.Write(b)
	}
	part(key)
	part(body)
	for _, one := range headers {
		part([]byte(one.name))
		part([]byte(one.kind))
		part(one.value)
	}
	part([]byte(system))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// expect sets what must arrive: the letter without the headers that its plan
// drops. A plan that drops what no convention wrote changes bytes.
func (l *letter) expect(dropped []string) error {
	kept := slices.DeleteFunc(slices.Clone(l.headers), func(h header) bool { return slices.Contains(dropped, h.name) })
	l.print = fingerprint(l.key, l.body, kept, l.system)
	for _, name := range dropped {
		if !slices.Contains(l.framework, name) {
			return fmt.Errorf("letter %s: the plan drops its header %q, which no convention wrote", l.id, name)
		}
	}
	return nil
}

// originMillis is what the copy's origin header must say.
func (l *letter) originMillis() string {
	at := l.origin
	if at.IsZero() {
		at = l.at
	}
	return fmt.Sprint(at.UnixMilli())
}

// kafkaLetter makes one of every kind of record that Kafka takes. Its token is
// in the key, the value or a header, so that no two are the same and each of
// them is null in some.
func kafkaLetter(rnd *rand.Rand, token string, number int) *letter {
	l := &letter{number: number, at: time.UnixMilli(time.Now().Add(-time.Duration(rnd.Int64N(int64(20 * 24 * time.Hour)))).UnixMilli())}
	mark := fmt.Appendf(nil, "%s-%06d", token, number)
	l.key, l.body = someKey(rnd), someBody(rnd)
	for range rnd.IntN(5) {
		l.headers = append(l.headers, header{name: []string{"a", "a", "trace-é", "", "N"}[rnd.IntN(5)], value: someKey(rnd)})
	}
	switch rnd.IntN(3) {
	case 0:
		l.key = mark
	case 1:
		l.body = append(mark, l.body...)
	default:
		l.headers = slices.Insert(l.headers, rnd.IntN(len(l.headers)+1), header{name: "mark", value: mark})
	}
	if rnd.IntN(3) == 0 {
		l.fail(rnd, token)
	}
	return l
}

// fail adds the headers that Spring's dead-letter publisher writes. Now and
// then the partition that it names is one that the target does not have.
func (l *letter) fail(rnd *rand.Rand, topic string) {
	l.origin = l.at.Add(-time.Hour)
	class := fmt.Sprintf("com.example.Failure%d", rnd.IntN(5))
	for _, h := range []header{
		{name: "kafka_dlt-original-topic", value: []byte(topic)},
		{name: "kafka_dlt-original-partition", value: binary.BigEndian.AppendUint32(nil, uint32(rnd.IntN(targetPartitions+1)))},
		{name: "kafka_dlt-original-offset", value: binary.BigEndian.AppendUint64(nil, uint64(1e9+l.number))},
		{name: "kafka_dlt-original-timestamp", value: binary.BigEndian.AppendUint64(nil, uint64(l.origin.UnixMilli()))},
		{name: "kafka_dlt-original-timestamp-type", value: []byte("CreateTime")},
		{name: "kafka_dlt-original-consumer-group", value: []byte("workers")},
		{name: "kafka_dlt-exception-fqcn", value: []byte(class)},
		{name: "kafka_dlt-exception-message", value: []byte("could not be handled")},
		{name: "kafka_dlt-exception-stacktrace", value: []byte(class + ": could not be handled\n\tat com.example.Worker.run(Worker.java:7)\n")},
	} {
		l.headers = append(l.headers, h)
		l.framework = append(l.framework, h.name)
	}
}

func someKey(rnd *rand.Rand) []byte {
	switch rnd.IntN(5) {
	case 0:
		return nil
	case 1:
		return []byte{}
	case 2:
		return randomBytes(rnd, 1+rnd.IntN(16))
	}
	return fmt.Appendf(nil, "key-%d", rnd.IntN(50))
}

func someBody(rnd *rand.Rand) []byte {
	switch rnd.IntN(8) {
	case 0:
		return nil
	case 1:
		return []byte{}
	case 2:
		return randomBytes(rnd, rnd.IntN(20<<10))
	case 3:
		return []byte("{ \"id\" : 9007199254740993, \"id\":1e400, \"é\":\"\\u00e9\" }\n")
	case 4:
		return []byte("\xff\xfe not UTF-8 \xc3")
	}
	return fmt.Appendf(nil, `{"n":%d,"text":"%s"}`, rnd.Uint64(), strings.Repeat("x", rnd.IntN(600)))
}

func randomBytes(rnd *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

// sqsLetter makes one of every kind of message that SQS takes: text, and at
// most ten attributes.
func sqsLetter(rnd *rand.Rand, token string, number int) *letter {
	l := &letter{number: number}
	text := []string{
		"{ \"id\" : 9007199254740993, \"id\":1e400, \"é\":\"\\u00e9\" }\n",
		"<xml/>\t€ 😀",
		strings.Repeat("y", rnd.IntN(1500)),
	}[rnd.IntN(3)]
	if rnd.IntN(20) == 0 {
		text = strings.Repeat("long ", rnd.IntN(4<<10))
	}
	l.body = fmt.Appendf(nil, "%s-%06d %s", token, number, text)
	kinds := []header{
		{kind: "String", value: []byte("é text")},
		{kind: "Number", value: []byte("9007199254740993")},
		{kind: "Number.int", value: []byte("007")},
		{kind: "Binary", value: []byte{0, 0xff, 0xfe}},
		{kind: "Binary.gzip", value: []byte{1}},
		{kind: "String.json", value: []byte(`{"a": 1}`)},
	}
	for i := range rnd.IntN(11) {
		h := kinds[rnd.IntN(len(kinds))]
		h.name = fmt.Sprintf("attribute-%02d", i)
		l.headers = append(l.headers, h)
	}
	if rnd.IntN(4) == 0 {
		l.system = "Root=1-5759e988-bd862e3fe1be46a994272793"
	}
	return l
}
