package convention

import (
	"bytes"
	"encoding/binary"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// encoding is how a value was written.
type encoding int

const (
	utf8Text    encoding = iota
	decimal              // digits
	int32BE              // four bytes, big-endian: Java's ByteBuffer
	int64BE              // eight bytes
	int32OrInt8          // four bytes, or the one of Spring Kafka 2.7
	bigint               // Java's BigInteger: two's complement of as few bytes as it takes
	anyInt               // by somebody unknown
	epochMillis          // milliseconds since 1970 as digits
	epochNanos           // nanoseconds
	iso8601              // .NET writes seven digits of a second, NServiceBus a colon before them
	anyTime              // by somebody unknown
	uriTail              // the last part of a URI's path
	arnTail              // an ARN of a queue, topic or stream: its name
	beforeIn             // "Type in Assembly": the type
	beforeColon          // "Class: message": the class
	jsonLines            // an array of lines, or one text
)

// The bounds of what is copied out of headers and bodies; the headers keep the
// whole of it.
const (
	maxName    = 512
	maxMessage = 64 << 10
	maxStack   = 256 << 10
)

// text reads a value as text of at most so many bytes.
func text(raw []byte, as encoding, most int) string {
	s := strings.ToValidUTF8(string(raw[:min(len(raw), most)]), "\uFFFD")
	switch as {
	case uriTail:
		return lastOfURI(s)
	case arnTail:
		return nameOfARN(s)
	case beforeIn:
		s, _, _ = strings.Cut(s, " in ")
	case beforeColon:
		s, _, _ = strings.Cut(s, ": ")
	}
	return s
}

// lastOfURI is the last part of the path: kafka://topic/orders, sqs://orders.
func lastOfURI(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" {
		return s
	}
	path := strings.TrimRight(u.Path, "/")
	if path == "" {
		return u.Host
	}
	return path[strings.LastIndexByte(path, '/')+1:]
}

// nameOfARN is the name of an SQS queue, SNS topic, Kinesis stream or DynamoDB
// table; any other ARN stays whole, because its name alone says too little.
func nameOfARN(s string) string {
	part := strings.SplitN(s, ":", 6)
	if len(part) < 6 || part[0] != "arn" {
		return s
	}
	switch part[2] {
	case "sqs", "sns":
		return part[5]
	case "kinesis", "dynamodb":
		if names := strings.Split(part[5], "/"); len(names) > 1 {
			return names[1]
		}
	}
	return s
}

// number reads a whole number. A value of digits only is decimal text whatever
// the convention says: clients of other languages write text under Spring's
// names, and eight digits read as eight bytes would be an absurd offset.
func number(raw []byte, as encoding) (int64, bool) {
	if n, ok := digits(raw); ok {
		return n, true
	}
	switch {
	case as == decimal || as == epochMillis || as == utf8Text || as == jsonLines || readable(raw):
		return 0, false
	case as == bigint || as == int32OrInt8 && len(raw) != 4:
		return twosComplement(raw)
	case len(raw) == 4:
		return int64(int32(binary.BigEndian.Uint32(raw))), true
	case len(raw) == 8:
		return int64(binary.BigEndian.Uint64(raw)), true
	}
	return 0, false
}

func digits(raw []byte) (int64, bool) {
	unsigned := bytes.TrimPrefix(raw, []byte("-"))
	if len(unsigned) == 0 || len(unsigned) > 19 {
		return 0, false
	}
	for _, c := range unsigned {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil
}

// readable tells whether bytes are printable ASCII: text that is no number,
// and no number of so many bytes that anybody meant.
func readable(raw []byte) bool {
	for _, c := range raw {
		if c < 0x20 || c > 0x7e {
			return false
		}
	}
	return len(raw) > 1
}

func twosComplement(raw []byte) (int64, bool) {
	if len(raw) == 9 && raw[0] == 0 {
		raw = raw[1:]
		if raw[0]&0x80 != 0 {
			return 0, false // beyond int64
		}
	}
	if len(raw) == 0 || len(raw) > 8 {
		return 0, false
	}
	n := int64(int8(raw[0]))
	for _, c := range raw[1:] {
		n = n<<8 | int64(c)
	}
	return n, true
}

// layouts are how times are written, the zone included or not.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999 -0700 MST", "2006-01-02 15:04:05.999999999 Z07:00", "2006-01-02 15:04:05.999999999",
	"2006-01-02T15:04:05.999999999-0700", time.RFC1123, time.RFC1123Z,
}

// instant reads a time; the zero time when there is none.
func instant(raw []byte, as encoding) time.Time {
	if n, ok := number(raw, as); ok {
		return instantOf(n, as)
	}
	if as != iso8601 && as != anyTime || len(raw) > 64 {
		return time.Time{}
	}
	s := string(raw)
	if at := strings.LastIndexByte(s, ':'); strings.Count(s, ":") == 3 && strings.HasSuffix(s, " Z") {
		s = s[:at] + "." + s[at+1:] // NServiceBus: 2026-09-14 08:15:42:500000 Z
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, s); err == nil {
			return sane(at.UTC())
		}
	}
	return time.Time{}
}

func instantOf(n int64, as encoding) time.Time {
	switch {
	case n < 0 || n == math.MaxInt64:
		return time.Time{}
	case as == epochNanos:
		return sane(time.Unix(0, n).UTC())
	case as == anyTime && n > 1e8 && n < 1e11: // somebody wrote seconds
		return sane(time.Unix(n, 0).UTC())
	}
	return sane(time.UnixMilli(n).UTC())
}

// sane refuses years that no JSON can hold.
func sane(at time.Time) time.Time {
	if at.Year() < 1970 || at.Year() > 9999 {
		return time.Time{}
	}
	return at
}

// queueName is a name that a queue can have: legal for a topic, or for what
// other conventions name as an origin (an ARN, an SQS queue). Anything else was
// damaged on its way, and would send a letter nowhere.
func queueName(s string) (string, bool) {
	if s == "" || len(s) > maxName || !utf8.ValidString(s) || s == "." || s == ".." {
		return "", false
	}
	for _, r := range s {
		if r <= 0x20 || r == 0x7f || r == utf8.RuneError {
			return "", false
		}
	}
	return s, true
}

// isTopicID tells whether a name is the text of a topic's id: share groups fall
// back to it when the name cannot be resolved (KIP-1191). Sixteen bytes make 22
// characters, of which the last has four bits that are zero.
func isTopicID(s string) bool {
	return len(s) == 22 && strings.IndexByte("AQgw", s[21]) >= 0 && !strings.ContainsRune(s, '.') &&
		s != strings.ToLower(s) && s != strings.ToUpper(s)
}
