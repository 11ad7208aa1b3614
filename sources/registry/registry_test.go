package registry

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/twmb/avro"

	"github.com/unwedge/unwedge/sources"
)

// fake is a registry that has schemas by id and by subject.
type fake struct {
	byID    map[string]map[string]any
	subject map[string]map[string]any
	asked   int
	status  int // of every answer; 0: as it should be
	signed  string
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.asked++
	user, password, _ := r.BasicAuth()
	f.signed = user + ":" + password
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	found := f.byID[parts[len(parts)-1]]
	if parts[0] == "subjects" {
		found = f.subject[parts[1]]
	}
	w.Header().Set("Content-Type", "application/vnd.schemaregistry.v1+json")
	switch {
	case f.status != 0:
		w.WriteHeader(f.status)
	case found == nil:
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"error_code":40403,"message":"Schema not found"}`))
	default:
		_ = json.NewEncoder(w).Encode(found)
	}
}

const (
	payment     = `{"type":"object","required":["currency"],"properties":{"currency":{"type":"string","maxLength":3},"amount":{"type":"integer"},"payer":{"$ref":"payer.json"}}}`
	payer       = `{"type":"object","properties":{"vpa":{"type":"string"}}}`
	avroPayment = `{"type":"record","name":"Payment","fields":[{"name":"currency","type":"string"},{"name":"payer","type":"acme.Payer"}]}`
	avroPayer   = `{"type":"record","namespace":"acme","name":"Payer","fields":[{"name":"vpa","type":"string"}]}`
)

func newFake() *fake {
	ref := func(name, subject string) []map[string]any {
		return []map[string]any{{"name": name, "subject": subject, "version": 1}}
	}
	return &fake{
		byID: map[string]map[string]any{
			"1": {"schema": payment, "schemaType": "JSON", "references": ref("payer.json", "payer")},
			"2": {"schema": avroPayment, "references": ref("acme.Payer", "payer-avro")},
			"3": {"schema": `syntax = "proto3"; message P { string currency = 1; }`, "schemaType": "PROTOBUF"},
			"4": {"schema": `{"$ref":"file:///etc/hostname"}`, "schemaType": "JSON"},
		},
		subject: map[string]map[string]any{
			"payer":      {"subject": "payer", "version": 1, "id": 11, "schema": payer, "schemaType": "JSON"},
			"payer-avro": {"subject": "payer-avro", "version": 1, "id": 12, "schema": avroPayer},
		},
	}
}

func start(t *testing.T, f *fake) *Registry {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	r, err := New(Config{URL: server.URL, User: "unwedge", Password: func() (string, error) { return "secret", nil }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func framed(id uint32, data []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, id), data...)
}

func avroOf(t *testing.T, currency, vpa string) []byte {
	t.Helper()
	var names avro.SchemaCache
	if _, err := names.Parse(avroPayer); err != nil {
		t.Fatal(err)
	}
	schema, err := names.Parse(avroPayment)
	if err != nil {
		t.Fatal(err)
	}
	data, err := schema.Encode(map[string]any{"currency": currency, "payer": map[string]any{"vpa": vpa}})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestAValueFitsItsSchemaOrSaysWhere, for what is checked and what is not.
func TestAValueFitsItsSchemaOrSaysWhere(t *testing.T) {
	r := start(t, newFake())
	good := avroOf(t, "INR", "asha@okbank")
	for _, c := range []struct {
		what  string
		value []byte
		is    error
		says  string
	}{
		{"no frame", []byte(`{"currency":1}`), nil, ""},
		{"null", nil, nil, ""},
		{"fits", framed(1, []byte(`{"currency":"INR","amount":9007199254740993,"payer":{"vpa":"x"}}`)), nil, ""},
		{"too long", framed(1, []byte(`{"currency":"INRR"}`)), sources.ErrSchemaMismatch, "at /currency"},
		{"missing", framed(1, []byte(`{}`)), sources.ErrSchemaMismatch, "currency"},
		{"in what it refers to", framed(1, []byte(`{"currency":"INR","payer":{"vpa":1}}`)), sources.ErrSchemaMismatch, "at /payer/vpa"},
		{"no JSON", framed(1, []byte(`x`)), sources.ErrSchemaMismatch, "not JSON"},
		{"Avro", framed(2, good), nil, ""},
		{"Avro, cut", framed(2, good[:len(good)-2]), sources.ErrSchemaMismatch, ""},
		{"Avro, and more", framed(2, append(good, 0)), sources.ErrSchemaMismatch, "1 bytes are left"},
		{"Protobuf", framed(3, []byte{0, 10, 3, 'I', 'N', 'R'}), nil, "not checked"},
		{"a file of ours", framed(4, []byte(`{}`)), nil, "does not say what file:///etc/hostname is"},
		{"not there", framed(99, []byte(`{}`)), sources.ErrNoSchema, "99"},
	} {
		err := r.CheckValue(t.Context(), c.value)
		if (err == nil) != (c.is == nil && c.says == "") || c.is != nil && !errors.Is(err, c.is) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

func TestASchemaIsAskedForOnce(t *testing.T) {
	f := newFake()
	r := start(t, f)
	for range 5 {
		if err := r.CheckValue(t.Context(), framed(1, []byte(`{"currency":"INR"}`))); err != nil {
			t.Fatal(err)
		}
	}
	if f.asked != 2 || f.signed != "unwedge:secret" {
		t.Errorf("%d questions, signed %s", f.asked, f.signed)
	}
	for id := range mostKept + 10 {
		r.keep(id, nil)
	}
	if len(r.fits) > mostKept {
		t.Errorf("%d are kept", len(r.fits))
	}
}

// TestARegistryThatIsDownIsLeftAloneForAWhile: a plan of thousands of letters
// must not wait for it thousands of times.
func TestARegistryThatIsDownIsLeftAloneForAWhile(t *testing.T) {
	f := newFake()
	f.status = http.StatusServiceUnavailable
	r := start(t, f)
	now := time.Now()
	r.now = func() time.Time { return now }
	for i := range 3 {
		if err := r.CheckValue(t.Context(), framed(uint32(i), nil)); err == nil || errors.Is(err, sources.ErrSchemaMismatch) {
			t.Error(err)
		}
	}
	if f.asked != 1 {
		t.Errorf("it was asked %d times", f.asked)
	}
	f.status, now = 0, now.Add(failedFor)
	if err := r.CheckValue(t.Context(), framed(1, []byte(`{"currency":"INR"}`))); err != nil {
		t.Error(err)
	}
}

func TestACancelledQuestionIsNobodysFault(t *testing.T) {
	r := start(t, newFake())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.CheckValue(ctx, framed(1, nil)); err == nil {
		t.Error("an answer without a question")
	}
	if err := r.CheckValue(t.Context(), framed(1, []byte(`{"currency":"INR"}`))); err != nil {
		t.Error(err)
	}
}

func TestAConfigurationThatCannotWork(t *testing.T) {
	password := func() (string, error) { return "x", nil }
	for _, c := range []struct {
		config Config
		says   string
	}{
		{Config{}, "url"},
		{Config{URL: "localhost:8081"}, "url"},
		{Config{URL: "http://u:p@host"}, "under user"},
		{Config{URL: "http://host", Password: password}, "user"},
		{Config{URL: "http://host/apis/ccompat/v7", User: "u", Password: password}, ""},
	} {
		if err := c.config.Validate(); fmt.Sprint(err) == "<nil>" != (c.says == "") || err != nil && !strings.HasPrefix(err.Error(), c.says) && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.config.URL, err)
		}
	}
}
