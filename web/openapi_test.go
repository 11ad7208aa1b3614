package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// document is the OpenAPI document as served.
func document(t *testing.T) map[string]any {
	t.Helper()
	return object(t, get(story().server(t), "/api/v1/openapi.json"), http.StatusOK)
}

var segments = regexp.MustCompile(`:([a-z]+)`)

// TestOpenAPIHasEveryRoute holds the document against the route table, both
// ways, with the right that each route needs.
func TestOpenAPIHasEveryRoute(t *testing.T) {
	described := map[string]string{}
	for path, item := range at(t, document(t), "paths").(map[string]any) {
		for method, operation := range item.(map[string]any) {
			described[strings.ToUpper(method)+" "+path] = fmt.Sprint(at(t, operation, "x-right"))
		}
	}
	for _, r := range routes {
		if !strings.HasPrefix(r.path, "/api/") && !slices.Contains([]string{"/healthz", "/readyz", "/metrics"}, r.path) {
			continue
		}
		name := r.method + " " + segments.ReplaceAllString(r.path, "{$1}")
		if described[name] != string(r.needs) {
			t.Errorf("%s needs %q, the document says %q", name, r.needs, described[name])
		}
		delete(described, name)
	}
	for name := range described {
		t.Errorf("%s is described and not served", name)
	}
}

func TestEveryRouteNamesItsRight(t *testing.T) {
	for _, r := range routes {
		if !slices.Contains([]right{anyone, signed, viewer, reader, operator, admin}, r.needs) {
			t.Errorf("%s %s needs %q", r.method, r.path, r.needs)
		}
		if r.method != http.MethodGet && r.needs != operator && r.needs != signed {
			t.Errorf("%s %s changes something and needs only %s", r.method, r.path, r.needs)
		}
	}
}

// TestAnswersAreAsDescribed checks real answers field by field against the
// schemas, which know no field besides those that they name.
func TestAnswersAreAsDescribed(t *testing.T) {
	doc := document(t)
	s := story().server(t)
	checkAnswer := func(method, path, target, body string) {
		t.Helper()
		a := ask(s, method, target, body)
		var value any
		if err := json.Unmarshal(a.Body.Bytes(), &value); err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		for _, fault := range (validator{doc}).check(schemaOf(t, doc, method, path, a), value, "") {
			t.Errorf("%s %s: %s", method, target, fault)
		}
	}
	for path, targets := range map[string][]string{
		"/api/v1/lag":                           {"/api/v1/lag", "/api/v1/lag?verdict=x"},
		"/api/v1/queues":                        {"/api/v1/queues"},
		"/api/v1/findings":                      {"/api/v1/findings"},
		"/api/v1/causes":                        {"/api/v1/causes"},
		"/api/v1/dead-letters":                  {"/api/v1/dead-letters", "/api/v1/dead-letters?limit=1"},
		"/api/v1/dead-letters/{id}":             {"/api/v1/dead-letters/dl_json", "/api/v1/dead-letters/dl_null", "/api/v1/dead-letters/a%2Fb%25", "/api/v1/dead-letters/x"},
		"/api/v1/incidents":                     {"/api/v1/incidents"},
		"/api/v1/incidents/{id}":                {"/api/v1" + incident142},
		"/api/v1/redrives":                      {"/api/v1/redrives"},
		"/api/v1/redrives/{id}":                 {"/api/v1/redrives/rd_1"},
		"/api/v1/redrives/{id}/items":           {"/api/v1/redrives/rd_1/items"},
		"/api/v1/redrives/plans/{plan}":         {"/api/v1/redrives/plans/pl_1"},
		"/api/v1/redrives/plans/{plan}/letters": {"/api/v1/redrives/plans/pl_1/letters"},
		"/healthz":                              {"/healthz"},
		"/readyz":                               {"/readyz"},
	} {
		for _, target := range targets {
			checkAnswer("GET", path, target, "")
		}
	}
	checkAnswer("POST", "/api/v1/redrives", "/api/v1/redrives", redriveOne)
	checkAnswer("POST", "/api/v1/redrives", "/api/v1/redrives", `{"ids":["dl_json"],"dry_run":true}`)
	checkAnswer("POST", "/api/v1/redrives", "/api/v1/redrives", `{}`)
	for _, order := range []string{"pause", "resume", "cancel"} {
		checkAnswer("POST", "/api/v1/redrives/{id}/"+order, "/api/v1/redrives/rd_1/"+order, "")
	}
	checkAnswer("POST", "/api/v1/redrives/{id}/rate", "/api/v1/redrives/rd_1/rate", `{"rate_per_second":5}`)
	checkAnswer("POST", "/api/v1/redrives/items/{id}/settle", "/api/v1/redrives/items/it_1/settle", `{"as":"sent"}`)
}

func TestOpenAPIKnowsEveryFieldOfARedrive(t *testing.T) {
	fields := at(t, document(t), "components", "schemas", "RedriveRequest", "properties").(map[string]any)
	for _, name := range redriveFields {
		if _, there := fields[name]; !there {
			t.Errorf("no %s", name)
		}
	}
	if len(fields) != len(redriveFields) {
		t.Errorf("%d fields, want %d", len(fields), len(redriveFields))
	}
}

// schemaOf is the schema of an answer.
func schemaOf(t *testing.T, doc map[string]any, method, path string, a *httptest.ResponseRecorder) any {
	t.Helper()
	return at(t, doc, "paths", path, strings.ToLower(method), "responses", fmt.Sprint(a.Code), "content", "application/json", "schema")
}

// validator checks values against the part of JSON Schema that the document
// uses.
type validator struct{ doc map[string]any }

func (v validator) check(schema, value any, at string) (faults []string) {
	s, _ := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		return v.check(v.resolve(ref), value, at)
	}
	if any, ok := s["anyOf"].([]any); ok {
		for _, one := range any {
			if len(v.check(one, value, at)) == 0 {
				return nil
			}
		}
		return []string{fmt.Sprintf("%s: %v is none of what it may be", at, value)}
	}
	if !v.isOfType(s["type"], value) {
		return []string{fmt.Sprintf("%s: %v is no %v", at, value, s["type"])}
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, value) {
		faults = append(faults, fmt.Sprintf("%s: %v is not in %v", at, value, enum))
	}
	switch value := value.(type) {
	case map[string]any:
		faults = append(faults, v.object(s, value, at)...)
	case []any:
		for i, row := range value {
			faults = append(faults, v.check(s["items"], row, fmt.Sprintf("%s[%d]", at, i))...)
		}
	}
	return faults
}

func (v validator) object(s map[string]any, value map[string]any, at string) (faults []string) {
	fields, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, there := value[name.(string)]; !there {
			faults = append(faults, fmt.Sprintf("%s: no %v", at, name))
		}
	}
	for name, field := range value {
		if schema, described := fields[name]; described {
			faults = append(faults, v.check(schema, field, at+"."+name)...)
		} else if s["additionalProperties"] == false {
			faults = append(faults, fmt.Sprintf("%s: %s is not described", at, name))
		}
	}
	return faults
}

func (v validator) isOfType(types, value any) bool {
	list, several := types.([]any)
	if !several {
		list = []any{types}
	}
	kind := ""
	switch n := value.(type) {
	case nil:
		kind = "null"
	case bool:
		kind = "boolean"
	case string:
		kind = "string"
	case []any:
		kind = "array"
	case map[string]any:
		kind = "object"
	case float64:
		if kind = "number"; n == float64(int64(n)) && slices.Contains(list, any("integer")) {
			kind = "integer"
		}
	}
	return slices.Contains(list, any(kind))
}

func (v validator) resolve(ref string) any {
	var at any = v.doc
	for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at = at.(map[string]any)[step]
	}
	return at
}

func TestOpenAPINamesItsBasePath(t *testing.T) {
	for base, want := range map[string]string{"": "/", "https://ops.example.com/ops/dlq": "/ops/dlq"} {
		c := story().config()
		c.BaseURL = base
		if got := at(t, object(t, get(newServer(t, c), "/api/v1/openapi.json"), http.StatusOK), "servers", 0, "url"); got != want {
			t.Errorf("under %q: %v, want %s", base, got, want)
		}
	}
}
