package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"testing"

	"github.com/unwedge/unwedge/sources"
)

// address is the environment variable that names a real registry, with
// Confluent's API, that the test may write to.
const address = "UNWEDGE_TEST_REGISTRY"

// TestARealRegistry registers a schema that refers to another one, and checks
// values against it.
func TestARealRegistry(t *testing.T) {
	at := os.Getenv(address)
	if at == "" {
		t.Skipf("set %s to the address of a registry, such as Apicurio's /apis/ccompat/v7", address)
	}
	register(t, at, "payer", map[string]any{"schema": payer, "schemaType": "JSON"})
	id := register(t, at, "payment", map[string]any{"schema": payment, "schemaType": "JSON", "references": []map[string]any{{"name": "payer.json", "subject": "payer", "version": 1}}})
	avroID := register(t, at, "settled", map[string]any{"schema": `{"type":"record","name":"S","fields":[{"name":"currency","type":"string"}]}`, "schemaType": "AVRO"})
	r, err := New(Config{URL: at})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		value []byte
		want  error
	}{
		{framed(id, []byte(`{"currency":"INR","payer":{"vpa":"x"}}`)), nil},
		{framed(id, []byte(`{"currency":"INR","payer":{"vpa":1}}`)), sources.ErrSchemaMismatch},
		{framed(avroID, []byte("\x06INR")), nil},
		{framed(avroID, []byte("\x06IN")), sources.ErrSchemaMismatch},
		{framed(9_999_999, nil), sources.ErrNoSchema},
	} {
		if err := r.CheckValue(t.Context(), c.value); !errors.Is(err, c.want) {
			t.Errorf("%q: %v, want %v", c.value, err, c.want)
		}
	}
}

func register(t *testing.T, at, subject string, schema map[string]any) uint32 {
	t.Helper()
	body, _ := json.Marshal(schema)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+"/subjects/"+subject+"/versions", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/vnd.schemaregistry.v1+json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var made struct{ ID uint32 }
	if err := json.NewDecoder(answer.Body).Decode(&made); err != nil || made.ID == 0 {
		t.Fatalf("register %s: %d, %v", subject, answer.StatusCode, err)
	}
	return made.ID
}
