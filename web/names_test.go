package web

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/sources"
)

// TestC27GroupsWithSimilarNamesHaveEachTheirOwn lag: in the API, under the
// address that their row leads to, and in the metrics.
func TestC27GroupsWithSimilarNamesHaveEachTheirOwn(t *testing.T) {
	lags := map[string]int64{"push_q": 223_145, "test-push_q": 2_001, "a.b": 3, "a_b": 4, "__proto__": 5, "a/b%2F": 6, "a+b&group=a.b": 7}
	w := &world{}
	for name, lag := range lags {
		line := sources.Partition{Source: "payments", Group: name, Topic: "t"}
		w.board.Groups = append(w.board.Groups, alerts.GroupView{
			Source: "payments", Group: name, Verdict: alerts.OK, Lag: lag,
			Lines: []alerts.LineView{{Judgement: alerts.Judgement{Partition: line, Verdict: alerts.OK, Lag: lag}}},
		})
	}
	s := w.server(t)
	metrics := get(s, "/metrics").Body.String()
	for name, lag := range lags {
		answer := object(t, get(s, "/api/v1/lag?"+url.Values{"group": {name}}.Encode()), 200)
		if groups := at(t, answer, "groups").([]any); len(groups) != 1 || at(t, groups[0], "group") != name || at(t, groups[0], "lag") != float64(lag) {
			t.Errorf("%s: %v", name, groups)
		}
		page := get(s, groupHref("payments", name)).Body.String()
		if !strings.Contains(page, withComma(lag)) {
			t.Errorf("%s: its page does not have %s", name, withComma(lag))
		}
		if want := fmt.Sprintf(`unwedge_partition_lag{group=%q,partition="0",source="payments",topic="t"} %d`, name, lag); !strings.Contains(metrics, want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
}

// withComma writes thousands with a comma, as pages do.
func withComma(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// TestAQueueIsSilencedByItsName: an incident of a queue has no group, and a
// pattern for one would match nothing.
func TestAQueueIsSilencedByItsName(t *testing.T) {
	w := story()
	burst := alerts.Incident{ID: "01991f2e-0000-7000-8000-000000000777", Source: "payments", Queue: "orders.dlq", Verdict: alerts.DeadLetterBurst, Title: "Dead letters in orders.dlq: more than 50 letters within 10 min", OpenedAt: thursday, Pages: true}
	w.incidents = []alerts.Incident{burst}
	page := get(w.server(t), "/incidents/"+burst.ID).Body.String()
	for _, want := range []string{`name="group" value=""`, `name="topic" value="orders.dlq"`, "Silence orders.dlq", "Burst of dead letters"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if s, err := (alerts.Silence{Source: "payments", Topic: "orders.dlq", Until: thursday.Add(time.Hour)}).Valid(thursday); err != nil || !s.Holds(burst, thursday) {
		t.Errorf("what the form sends does not hold its page: %v", err)
	}
}
