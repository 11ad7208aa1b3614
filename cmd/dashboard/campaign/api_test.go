package campaign

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// api speaks to the program as any client of its API does. It takes only what
// the campaign needs of each answer.
type api struct {
	base   string
	client *http.Client
}

func newAPI(base string) api {
	return api{base, &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}}
}

// job is a redrive.
type job struct {
	ID, State, Reason, Trouble string
	Total                      int
	Counts                     map[string]int
	Cancelling                 bool
}

// ended tells whether nothing more will be sent and all is settled.
func (j job) ended() bool { return j.State == "done" || j.State == "failed" || j.State == "cancelled" }

// out is how many of its letters are neither settled nor decided.
func (j job) out() int { return j.Counts["planned"] + j.Counts["sending"] + j.Counts["sent"] }

// item is a row of the ledger.
type item struct {
	ID, Letter, State, Error string
	Job                      string `json:"-"`
	Target                   struct {
		Queue     string
		Partition *int32
		Offset    *int64
		MessageID string `json:"message_id"`
	}
}

// passed tells whether the ledger says that the letter arrived.
func (i item) passed() bool {
	return i.State == "sent" || i.State == "confirmed" || i.State == "consumed" || i.State == "returned"
}

// listed is a dead letter as the program lists it.
type listed struct {
	ID, Status string
	Cause      string
	Place      struct {
		Partition *int32
		Offset    *int64
		MessageID string `json:"message_id"`
	}
}

// where names the place as the brokers' clients do.
func (l listed) where() string {
	if l.Place.Partition == nil || l.Place.Offset == nil {
		return l.Place.MessageID
	}
	return place(*l.Place.Partition, *l.Place.Offset)
}

func place(partition int32, offset int64) string { return fmt.Sprintf("%d/%d", partition, offset) }

// planned is one letter of a plan.
type planned struct {
	ID      string
	Refused string
	Headers struct{ Dropped []string }
}

// entry is a line of the audit.
type entry struct{ By, Action, On, Outcome string }

func (a api) get(ctx context.Context, path string, into any) error {
	status, body, err := a.call(ctx, http.MethodGet, path, nil)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("GET %s: %d %.300s", path, status, body)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(body, into)
	}
	return err
}

// post sends a body. An error means that nobody knows what the program did.
func (a api) post(ctx context.Context, path string, body, into any) (status int, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	status, answer, err := a.call(ctx, http.MethodPost, path, text)
	if err == nil && status < 300 && into != nil {
		err = json.Unmarshal(answer, into)
	}
	if err == nil && status >= 300 {
		err = &refusal{path, status, string(answer)}
	}
	return status, err
}

// refusal is an answer that says no.
type refusal struct {
	path   string
	status int
	text   string
}

func (r *refusal) Error() string { return fmt.Sprintf("POST %s: %d %.400s", r.path, r.status, r.text) }

func (a api) call(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, a.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	answer, err := a.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, text, err
}

// pages reads a list to its end.
func pages[T any](ctx context.Context, a api, path, name string, query url.Values) (all []T, err error) {
	if query == nil {
		query = url.Values{}
	}
	query.Set("limit", "500")
	for {
		var page map[string]json.RawMessage
		if err := a.get(ctx, path+"?"+query.Encode(), &page); err != nil {
			return nil, err
		}
		var some []T
		if err := json.Unmarshal(page[name], &some); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, some...)
		var next string
		if err := json.Unmarshal(page["next_cursor"], &next); err != nil || next == "" {
			return all, err
		}
		query.Set("cursor", next)
	}
}

func (a api) letters(ctx context.Context, queue, status string) ([]listed, error) {
	return pages[listed](ctx, a, "/api/v1/dead-letters", "dead_letters", url.Values{"queue": {queue}, "status": {status}})
}

// total counts the letters of a queue.
func (a api) total(ctx context.Context, queue string) (n int, err error) {
	var page struct{ Total int }
	err = a.get(ctx, "/api/v1/dead-letters?status=all&limit=1&queue="+url.QueryEscape(queue), &page)
	return page.Total, err
}

func (a api) jobs(ctx context.Context) ([]job, error) {
	return pages[job](ctx, a, "/api/v1/redrives", "redrives", nil)
}

func (a api) items(ctx context.Context, job string, states ...string) ([]item, error) {
	all, err := pages[item](ctx, a, "/api/v1/redrives/"+job+"/items", "items", url.Values{"state": states})
	for i := range all {
		all[i].Job = job
	}
	return all, err
}

func (a api) order(ctx context.Context, job, what string) error {
	_, err := a.post(ctx, "/api/v1/redrives/"+job+"/"+what, struct{}{}, nil)
	return err
}

// ledger is every item of every redrive, by letter.
func (a api) ledger(ctx context.Context) (map[string][]item, []job, error) {
	jobs, err := a.jobs(ctx)
	if err != nil {
		return nil, nil, err
	}
	all := map[string][]item{}
	for _, j := range jobs {
		items, err := a.items(ctx, j.ID)
		if err != nil {
			return nil, nil, err
		}
		for _, i := range items {
			all[i.Letter] = append(all[i.Letter], i)
		}
	}
	return all, jobs, nil
}
