package convention

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/sources"
)

// view is a letter opened for reading: each part is taken apart at most once.
type view struct {
	l      *sources.DeadLetter
	at     map[string][]int // header name → its places in wire order
	folded map[string][]int // the same by small letters; nil until asked for

	body   part // the body as JSON
	inside part // the JSON under the body's base64
	avro   map[string]string
	key    []payload.Wire
	keyed  bool // key was tried
	avroed bool // avro was tried
}

// part is a JSON document that may be there.
type part struct {
	doc   payload.Document
	ok    bool
	tried bool
}

func open(l *sources.DeadLetter) *view {
	v := &view{l: l, at: make(map[string][]int, len(l.Headers))}
	for i, h := range l.Headers {
		v.at[h.Name] = append(v.at[h.Name], i)
	}
	return v
}

// isSQS tells whether the letter came by SQS.
func (v *view) isSQS() bool { return v.l.Place.MessageID != "" || v.l.System != nil }

// places are where headers of the name stand. A name with stars is a pattern
// over small letters.
func (v *view) places(name string, fold bool) []int {
	if !fold {
		return v.at[name]
	}
	if v.folded == nil {
		v.folded = make(map[string][]int, len(v.at))
		for i, h := range v.l.Headers {
			lower := strings.ToLower(h.Name)
			v.folded[lower] = append(v.folded[lower], i)
		}
	}
	name = strings.ToLower(name)
	if !strings.Contains(name, "*") {
		return v.folded[name]
	}
	var out []int
	for i, h := range v.l.Headers {
		if sources.Glob(name, strings.ToLower(h.Name)) {
			out = append(out, i)
		}
	}
	return out
}

func (v *view) has(name string) bool { return len(v.at[name]) > 0 }

// json is the body as a JSON document.
func (v *view) json() (payload.Document, bool) {
	return v.body.get(func() []byte { return v.l.Body })
}

// enclosed is the JSON document that the body holds in base64 (Kombu).
func (v *view) enclosed() (payload.Document, bool) {
	return v.inside.get(func() []byte {
		if len(v.l.Body) < 8 || len(v.l.Body)%4 != 0 || v.l.Body[0] != 'e' {
			return nil // a JSON object begins with "ey" or "ew" or "eA" in base64
		}
		inner, err := base64.StdEncoding.DecodeString(string(v.l.Body))
		if err != nil {
			return nil
		}
		return inner
	})
}

func (p *part) get(bytes func() []byte) (payload.Document, bool) {
	if !p.tried {
		p.tried = true
		p.doc, p.ok = payload.ParseJSON(bytes())
	}
	return p.doc, p.ok
}

// mentions is a cheap test before the body is parsed.
func (v *view) mentions(word string) bool { return bytes.Contains(v.l.Body, []byte(word)) }

// keyFields are the fields of the key as a protobuf message; nil when it is
// none.
func (v *view) keyFields() []payload.Wire {
	if !v.keyed {
		v.keyed = true
		v.key, _ = payload.ProtobufFields(v.l.Key)
	}
	return v.key
}

// deadLetter are the fields of the body as bakdata's Avro type.
func (v *view) deadLetter() map[string]string {
	if !v.avroed {
		v.avroed = true
		v.avro = readDeadLetter(v.l.Body)
	}
	return v.avro
}

// wire is the value of a protobuf field by its number, as text or bytes.
func wire(fields []payload.Wire, number string) ([]byte, bool) {
	for i := len(fields) - 1; i >= 0; i-- { // of equal ones the last counts
		if f := fields[i]; strconv.FormatUint(f.Number, 10) == number {
			if f.Type == 2 {
				return f.Bytes, true
			}
			return strconv.AppendInt(nil, int64(f.Varint), 10), true
		}
	}
	return nil, false
}
