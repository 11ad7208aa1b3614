package web

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/unwedge/unwedge/review"
)

func TestLagSaysNullForWhatIsNotKnown(t *testing.T) {
	s := story().server(t)
	o := object(t, get(s, "/api/v1/lag?group=a%2Fb%25"), http.StatusOK)
	group := at(t, o, "groups", 0)
	for _, field := range []string{"lag", "protocol", "state"} {
		if v := at(t, group, field); v != nil {
			t.Errorf("%s is %v, want null", field, v)
		}
	}
	line := at(t, group, "partitions", 0)
	for _, field := range []string{"position", "start", "end", "stable_end", "lag", "behind_seconds", "owner", "scope", "since", "message_group"} {
		if v := at(t, line, field); v != nil {
			t.Errorf("%s is %v, want null", field, v)
		}
	}
	if v := at(t, line, "error"); v != "TOPIC_AUTHORIZATION_FAILED" {
		t.Errorf("the line's own error is %v", v)
	}
}

func TestLagHasTheWedgedLine(t *testing.T) {
	o := object(t, get(story().server(t), "/api/v1/lag?group=payment-retry-consumer-group"), http.StatusOK)
	line := at(t, o, "groups", 0, "partitions", 3)
	for field, want := range map[string]any{
		"partition": 3.0, "position": 118204.0, "lag": 12412.0, "behind_seconds": 780.0, "verdict": "head_of_line_stall",
		"scope": "partition", "since": "2026-09-09T21:06:12Z", "owner": "retry (m-1)",
	} {
		if got := at(t, line, field); got != want {
			t.Errorf("%s is %v, want %v", field, got, want)
		}
	}
	if ok := at(t, o, "groups", 0, "partitions", 0, "lag"); ok != 0.0 {
		t.Errorf("a line with nothing to read has lag %v, want 0", ok)
	}
}

func TestLagNamesEverySource(t *testing.T) {
	w := story()
	w.board.Sources[0].Err = "connection refused"
	o := object(t, get(w.server(t), "/api/v1/lag"), http.StatusOK)
	if at(t, o, "sources", 0, "source") != "payments" || at(t, o, "sources", 0, "error") != "connection refused" {
		t.Errorf("sources: %v", o["sources"])
	}
	if at(t, o, "sources", 1, "source") != "aws" || at(t, o, "sources", 1, "error") != nil || at(t, o, "sources", 1, "read_at") != "2026-09-09T21:15:12Z" {
		t.Errorf("sources: %v", o["sources"])
	}
}

func TestLagFiltersSelectLines(t *testing.T) {
	s := story().server(t)
	for query, want := range map[string][]int{
		"":                                  {1, 6}, // a/b% before payment-…
		"source=aws":                        {},
		"group=a%2Fb%25":                    {1},
		"topic=payment.retry.requests":      {6},
		"verdict=head_of_line_stall":        {1},
		"verdict=ok":                        {5},
		"verdict=ok&verdict=unknown":        {1, 5},
		"verdict=stuck":                     {1},
		"source=&group=&topic=&verdict=":    {1, 6},
		"group=payment-retry-consumer-grou": {},
	} {
		groups := at(t, object(t, get(s, "/api/v1/lag?"+query), http.StatusOK), "groups").([]any)
		got := []int{}
		for _, g := range groups {
			got = append(got, len(at(t, g, "partitions").([]any)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: groups of %v lines, want %v", query, got, want)
		}
	}
	ok := at(t, object(t, get(s, "/api/v1/lag?verdict=ok"), http.StatusOK), "groups", 0)
	if at(t, ok, "verdict") != "ok" || at(t, ok, "lag") != 0.0 {
		t.Errorf("the group's figures are not those of the lines listed: %v, %v", at(t, ok, "verdict"), at(t, ok, "lag"))
	}
}

func TestLagPagesByGroup(t *testing.T) {
	s := story().server(t)
	first := object(t, get(s, "/api/v1/lag?limit=1"), http.StatusOK)
	cursor, _ := at(t, first, "next_cursor").(string)
	second := object(t, get(s, "/api/v1/lag?limit=1&cursor="+cursor), http.StatusOK)
	if at(t, first, "groups", 0, "group") != "a/b%" || at(t, second, "groups", 0, "group") != "payment-retry-consumer-group" || at(t, second, "next_cursor") != nil {
		t.Errorf("first %v, then %v", first, second)
	}
}

func TestLetterTellsNullFromEmpty(t *testing.T) {
	s := story().server(t)
	for id, want := range map[string]struct{ key, value any }{
		"dl_null":   {nil, nil},
		"dl_empty":  {"", ""},
		"dl_binary": {"/wA=", "AAH+/w=="},
	} {
		o := object(t, get(s, "/api/v1/dead-letters/"+id), http.StatusOK)
		if got := at(t, o, "key", "base64"); got != want.key {
			t.Errorf("%s: key %v, want %v", id, got, want.key)
		}
		if got := at(t, o, "value", "base64"); got != want.value {
			t.Errorf("%s: value %v, want %v", id, got, want.value)
		}
	}
	if text := at(t, object(t, get(s, "/api/v1/dead-letters/dl_null"), http.StatusOK), "value", "text"); text != nil {
		t.Errorf("the text of null is %v", text)
	}
}

func TestC01C05HeadersAreAListInWireOrder(t *testing.T) {
	o := object(t, get(story().server(t), "/api/v1/dead-letters/dl_json"), http.StatusOK)
	want := []any{"Mg==", nil, "", "AAAAAw=="}
	for i, value := range want {
		if got := at(t, o, "headers", i, "value_base64"); got != value {
			t.Errorf("header %d is %v, want %v", i, got, value)
		}
	}
}

func TestC03NumbersKeepTheirDigits(t *testing.T) {
	o := object(t, get(story().server(t), "/api/v1/dead-letters/dl_json"), http.StatusOK)
	for _, digits := range []string{"9007199254740993", "1.10", "1E400"} {
		if text := at(t, o, "value", "text").(string); !strings.Contains(text, digits) {
			t.Errorf("no %s in %s", digits, text)
		}
	}
}

func TestC09BytesThatAreNoTextAreListed(t *testing.T) {
	w := story()
	w.letters[3].Body = []byte("{\"n\":\"\xc3\x28\xff\x00\x1b\"}")
	o := object(t, get(w.server(t), "/api/v1/dead-letters"), http.StatusOK)
	if n := len(at(t, o, "dead_letters").([]any)); n != len(w.letters) {
		t.Errorf("%d rows, want %d", n, len(w.letters))
	}
	if got := at(t, o, "dead_letters", 3, "value", "base64"); got != base64.StdEncoding.EncodeToString(w.letters[3].Body) {
		t.Errorf("bytes: %v", got)
	}
}

func TestC15AWordInABodyIsNoError(t *testing.T) {
	o := object(t, get(story().server(t), "/api/v1/dead-letters/a%2Fb%25"), http.StatusOK)
	if at(t, o, "id") != "a/b%" || at(t, o, "value", "format") != "json" {
		t.Errorf("%v, %v", at(t, o, "id"), at(t, o, "value"))
	}
}

func TestPlaceIsOfItsTransport(t *testing.T) {
	s := story().server(t)
	kafka := at(t, object(t, get(s, "/api/v1/dead-letters/dl_json"), http.StatusOK), "place").(map[string]any)
	sqs := at(t, object(t, get(s, "/api/v1/dead-letters/a%2Fb%25"), http.StatusOK), "place").(map[string]any)
	if len(kafka) != 2 || kafka["partition"] != 1.0 || kafka["offset"] != 4417.0 {
		t.Errorf("Kafka: %v", kafka)
	}
	if len(sqs) != 1 || sqs["message_id"] != "9f2c" {
		t.Errorf("SQS: %v", sqs)
	}
}

func TestListsLeaveLargeValuesOut(t *testing.T) {
	w := story()
	w.letters[0].Body = bytes.Repeat([]byte("é"), mostListedValue)
	s := w.server(t)
	row := at(t, object(t, get(s, "/api/v1/dead-letters"), http.StatusOK), "dead_letters", 0, "value")
	if at(t, row, "base64") != nil || at(t, row, "size") != 2.0*mostListedValue || at(t, row, "text_cut") != true {
		t.Errorf("in a list: base64 null %t, size %v, cut %v", at(t, row, "base64") == nil, at(t, row, "size"), at(t, row, "text_cut"))
	}
	if whole := at(t, object(t, get(s, "/api/v1/dead-letters/dl_json"), http.StatusOK), "value", "base64"); whole != base64.StdEncoding.EncodeToString(w.letters[0].Body) {
		t.Error("the letter alone has not all its bytes")
	}
}

func TestForgottenBodyIsNotANullOne(t *testing.T) {
	value := at(t, object(t, get(story().server(t), "/api/v1/dead-letters/dl_forgotten"), http.StatusOK), "value")
	if at(t, value, "kept") != false || at(t, value, "size") != 164.0 || at(t, value, "base64") != nil {
		t.Errorf("%v", value)
	}
}

func TestExactBytesAreADownload(t *testing.T) {
	s := story().server(t)
	for path, want := range map[string]string{"dl_evil/value": evil, "dl_evil/key": evil, "dl_empty/value": "", "dl_binary/key": "\xff\x00"} {
		a := get(s, "/api/v1/dead-letters/"+path)
		if a.Code != http.StatusOK || a.Body.String() != want {
			t.Errorf("%s: %d %q", path, a.Code, a.Body)
		}
		for name, value := range map[string]string{
			"Content-Type": "application/octet-stream", "Content-Security-Policy": "sandbox", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
		} {
			if got := a.Header().Get(name); got != value {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if got := a.Header().Get("Content-Disposition"); !strings.HasPrefix(got, "attachment; filename=\"dl_") {
			t.Errorf("%s: Content-Disposition %q", path, got)
		}
	}
	for _, path := range []string{"dl_null/value", "dl_null/key", "dl_forgotten/value", "nothing/value"} {
		if code, _ := refused(t, get(s, "/api/v1/dead-letters/"+path), http.StatusNotFound); code != codeNotFound {
			t.Errorf("%s: %s", path, code)
		}
	}
}

func TestLettersFiltersReachTheStore(t *testing.T) {
	w := story()
	s := w.server(t)
	for query, want := range map[string]review.Filter{
		"":                                     {},
		"source=&queue=&status=&cause=&q=":     {},
		"source=a&source=b&queue=q":            {Sources: []string{"a", "b"}, Queues: []string{"q"}},
		"status=open&status=expired&cause=c-1": {Status: []review.Status{review.Open, review.Expired}, Causes: []string{"c-1"}},
		"status=all":                           {Status: statuses},
		"q=pay_7Q2M%20x":                       {Text: "pay_7Q2M x"},
	} {
		for _, list := range []string{"dead-letters", "causes"} {
			object(t, get(s, "/api/v1/"+list+"?"+query), http.StatusOK)
			if got := w.filters[len(w.filters)-1]; !sameFilter(got, want) {
				t.Errorf("%s?%s: %+v, want %+v", list, query, got, want)
			}
		}
	}
}

func sameFilter(a, b review.Filter) bool {
	return slices.Equal(a.Sources, b.Sources) && slices.Equal(a.Queues, b.Queues) && slices.Equal(a.Status, b.Status) && slices.Equal(a.Causes, b.Causes) && a.Text == b.Text
}

func TestIncidentsByStatus(t *testing.T) {
	s := story().server(t)
	for query, want := range map[string]int{"": 2, "status=all": 2, "status=open": 1, "status=resolved": 1, "status=open&status=resolved": 2, "group=kyc-screening": 1, "group=kyc-screening&status=open": 0} {
		if got := len(at(t, object(t, get(s, "/api/v1/incidents?"+query), http.StatusOK), "incidents").([]any)); got != want {
			t.Errorf("%q: %d, want %d", query, got, want)
		}
	}
}

func TestIncidentHasItsEvidence(t *testing.T) {
	o := object(t, get(story().server(t), "/api/v1/incidents/01991f2e-0000-7000-8000-000000000142"), http.StatusOK)
	if at(t, o, "evidence", "head", "offset") != 118204.0 || at(t, o, "evidence", "suspects", 0, "apart", 0, "field") != "currency" {
		t.Errorf("evidence: %v", o["evidence"])
	}
	if at(t, o, "resolved_at") != nil || at(t, o, "acknowledged_by") != nil || at(t, o, "deliveries", 0, "accepted_at") != "2026-09-09T21:18:12Z" {
		t.Errorf("%v", o)
	}
}

func TestQueuesSayWhatIsNotKnown(t *testing.T) {
	o := object(t, get(story().server(t), "/api/v1/queues"), http.StatusOK)
	aws := at(t, o, "queues", 0)
	for field, want := range map[string]any{"name": "jobs-dlq", "count": nil, "retention_seconds": nil, "keeps_for_ever": true, "oldest_at": nil, "scanned_at": nil, "error": "AccessDenied"} {
		if got := at(t, aws, field); got != want {
			t.Errorf("%s is %v, want %v", field, got, want)
		}
	}
	if at(t, o, "queues", 1, "retention_seconds") != 1209600.0 {
		t.Errorf("retention: %v", at(t, o, "queues", 1, "retention_seconds"))
	}
}

func TestJobAndItsItems(t *testing.T) {
	s := story().server(t)
	job := object(t, get(s, "/api/v1/redrives/rd_1"), http.StatusOK)
	if at(t, job, "counts", "confirmed") != 1.0 || at(t, job, "counts", "unknown") != 0.0 || at(t, job, "items", 0, "target", "offset") != 90331.0 {
		t.Errorf("%v", job)
	}
	if at(t, job, "items", 1, "target", "offset") != nil || at(t, job, "items", 1, "error") != nil {
		t.Errorf("an item that was not sent: %v", at(t, job, "items", 1))
	}
	if list := object(t, get(s, "/api/v1/redrives"), http.StatusOK); at(t, list, "redrives", 0, "id") != "rd_1" {
		t.Errorf("%v", list)
	} else if _, there := at(t, list, "redrives", 0).(map[string]any)["items"]; there {
		t.Error("the list has items")
	}
	if items := at(t, object(t, get(s, "/api/v1/redrives/rd_1/items?state=planned"), http.StatusOK), "items").([]any); len(items) != 1 {
		t.Errorf("%v", items)
	}
}
