package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/unwedge/unwedge/review"
)

// Causes lists the causes of the letters that a filter selects, the newest cause
// first, which never changes. Counts are of those letters; the weeks count all
// arrivals. Errors: review.ErrBadCursor.
func (s *Store) Causes(ctx context.Context, f review.Filter, limit int, cursor string) (review.Causes, error) {
	page, err := s.causes(ctx, f, limit, cursor)
	if err != nil {
		return review.Causes{}, fmt.Errorf("list causes: %w", err)
	}
	return page, nil
}

func (s *Store) causes(ctx context.Context, f review.Filter, limit int, cursor string) (review.Causes, error) {
	after, err := readCursor("causes", cursor, 1)
	if err != nil {
		return review.Causes{}, err
	}
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return review.Causes{}, err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	c, err := s.choose(ctx, tx, f)
	if err != nil {
		return review.Causes{}, err
	}
	table, args := c.counted()
	var page review.Causes
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(DISTINCT cause) FROM `+table+` AS t`, args...).Scan(&page.Total); err != nil {
		return page, err
	}
	found, err := s.causePage(ctx, tx, table, args, after, limit+1)
	if err != nil {
		return page, err
	}
	if len(found) > limit {
		found = found[:limit]
		page.Next = makeCursor("causes", found[limit-1].number)
	}
	if err := s.completeCauses(ctx, tx, c, found); err != nil {
		return page, err
	}
	for _, one := range found {
		page.Causes = append(page.Causes, one.Cause)
	}
	return page, nil
}

// numbered is a cause with its number.
type numbered struct {
	number int64
	review.Cause
}

func (s *Store) causePage(ctx context.Context, q querier, table string, args []any, after []int64, limit int) ([]*numbered, error) {
	week := s.week(time.Now())
	all := append([]any{week, week}, args...)
	older := "1 = 1"
	if after != nil {
		older, all = "t.cause < ?", append(all, after[0])
	}
	return scanCauses(ctx, q, `SELECT c.number, c.id, c.title, c.why, c.first_seen, c.last_seen,
		SUM(t.letters), SUM(CASE WHEN t.found_week >= ? THEN t.letters ELSE 0 END), SUM(t.returned),
		SUM(CASE WHEN t.expires_week > 0 AND t.expires_week <= ? THEN t.letters ELSE 0 END)
		FROM `+table+` AS t JOIN causes c ON c.number = t.cause WHERE `+older+`
		GROUP BY c.number, c.id, c.title, c.why, c.first_seen, c.last_seen ORDER BY c.number DESC LIMIT ?`, append(all, limit)...)
}

func scanCauses(ctx context.Context, q querier, query string, args ...any) ([]*numbered, error) {
	var found []*numbered
	err := each(ctx, q, func(r *sql.Rows) error {
		c := &numbered{}
		var first, last int64
		err := r.Scan(&c.number, &c.ID, &c.Title, &c.Why, &first, &last, &c.Count, &c.New, &c.Returned, &c.Expiring)
		c.FirstSeen, c.LastSeen = instant(first), instant(last)
		found = append(found, c)
		return err
	}, query, args...)
	return found, err
}

// Cause is one cause, with the counts of its open letters. Errors:
// review.ErrNotFound.
func (s *Store) Cause(ctx context.Context, id string) (review.Cause, error) {
	cause, err := s.cause(ctx, id)
	if err != nil {
		return review.Cause{}, fmt.Errorf("read cause %s: %w", id, err)
	}
	return cause, nil
}

func (s *Store) cause(ctx context.Context, id string) (review.Cause, error) {
	c, err := s.choose(ctx, s.read, review.Filter{Causes: []string{id}})
	if err != nil {
		return review.Cause{}, err
	}
	if len(c.causes) == 0 {
		return review.Cause{}, fmt.Errorf("%w: cause %s", review.ErrNotFound, id)
	}
	table, args := c.counted()
	found, err := s.causePage(ctx, s.read, table, args, nil, 1)
	if err == nil && len(found) == 0 { // all are decided
		found, err = scanCauses(ctx, s.read, `SELECT number, id, title, why, first_seen, last_seen, 0, 0, 0, 0 FROM causes WHERE id = ?`, id)
	}
	if err != nil {
		return review.Cause{}, err
	}
	err = s.completeCauses(ctx, s.read, c, found)
	return found[0].Cause, err
}

// completeCauses fills in what is not counted: origins, queues, weeks, and the
// letters that stand first.
func (s *Store) completeCauses(ctx context.Context, q querier, c choice, found []*numbered) error {
	if len(found) == 0 {
		return nil
	}
	byNumber := map[int64]*numbered{}
	var list []int64
	for _, one := range found {
		byNumber[one.number] = one
		list = append(list, one.number)
	}
	for _, step := range []func(context.Context, querier, choice, []int64, map[int64]*numbered) error{causeOrigins, causeQueues, s.causeWeeks, causeFirsts} {
		if err := step(ctx, q, c, list, byNumber); err != nil {
			return err
		}
	}
	return nil
}

func causeOrigins(ctx context.Context, q querier, _ choice, list []int64, causes map[int64]*numbered) error {
	return each(ctx, q, func(r *sql.Rows) error {
		var n int64
		var origin string
		err := r.Scan(&n, &origin)
		causes[n].Origins = append(causes[n].Origins, origin)
		return err
	}, `SELECT cause, origin FROM cause_origins WHERE `+numberList("cause", list)+` ORDER BY origin`)
}

func causeQueues(ctx context.Context, q querier, c choice, list []int64, causes map[int64]*numbered) error {
	in, args := c.where("t")
	return each(ctx, q, func(r *sql.Rows) error {
		var n int64
		var source, name string
		err := r.Scan(&n, &source, &name)
		one := causes[n]
		if !slices.Contains(one.Sources, source) {
			one.Sources = append(one.Sources, source)
		}
		if !slices.Contains(one.Queues, name) {
			one.Queues = append(one.Queues, name)
		}
		return err
	}, `SELECT DISTINCT t.cause, q.source, q.name FROM tallies t JOIN queues q ON q.number = t.queue
		WHERE t.letters > 0 AND `+in+` AND `+numberList("t.cause", list)+` ORDER BY q.source, q.name`, args...)
}

// causeWeeks counts the letters that died in the last four review weeks, as well
// as that is known, whatever became of them. The last one is the week that is under way.
func (s *Store) causeWeeks(ctx context.Context, q querier, _ choice, list []int64, causes map[int64]*numbered) error {
	var begins [4]time.Time
	begins[3] = s.weekly.Load().Last(time.Now())
	for i := 2; i >= 0; i-- {
		begins[i] = s.weekly.Load().Last(begins[i+1].Add(-time.Second))
	}
	return each(ctx, q, func(r *sql.Rows) error {
		var n, week int64
		var letters int
		err := r.Scan(&n, &week, &letters)
		for i := len(begins) - 1; i >= 0; i-- {
			if week >= micros(begins[i]) {
				causes[n].Weeks[i] += letters
				break
			}
		}
		return err
	}, `SELECT cause, died_week, SUM(letters) FROM tallies WHERE died_week >= ? AND `+numberList("cause", list)+` GROUP BY cause, died_week`, micros(begins[0]))
}

// causeFirsts finds the oldest letter of each cause and the first to expire: the
// ends of index ranges.
func causeFirsts(ctx context.Context, q querier, c choice, list []int64, causes map[int64]*numbered) error {
	columns, args := []string{}, []any{}
	queues := ""
	if c.queues != nil {
		queues = " AND " + numberList("queue", c.queues)
	}
	for _, status := range c.statuses {
		for _, at := range []string{"listed_at", "expires_at"} {
			columns = append(columns, `COALESCE((SELECT `+at+` FROM letters WHERE cause = c.number AND shelf = ? AND status = ? AND `+at+` > 0`+queues+` ORDER BY `+at+` LIMIT 1), 0)`)
			args = append(args, string(shelf(review.Status(status))), status)
		}
	}
	return each(ctx, q, func(r *sql.Rows) error {
		values, into := make([]int64, len(columns)), make([]any, 1+len(columns))
		var n int64
		into[0] = &n
		for i := range values {
			into[i+1] = &values[i]
		}
		err := r.Scan(into...)
		for i := 0; i < len(values); i += 2 {
			causes[n].Oldest = earlier(causes[n].Oldest, instant(values[i]))
			causes[n].ExpiresFirst = earlier(causes[n].ExpiresFirst, instant(values[i+1]))
		}
		return err
	}, `SELECT c.number, `+strings.Join(columns, ", ")+` FROM causes c WHERE `+numberList("c.number", list), args...)
}

// earlier is the earlier of two instants of which either may be none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Summary is the review in a line.
func (s *Store) Summary(ctx context.Context) (review.Summary, error) {
	now, w := time.Now(), s.weekly.Load()
	sum := review.Summary{LastReview: w.Last(now), NextReview: w.Next(now)}
	week := micros(sum.LastReview)
	err := s.read.QueryRowContext(ctx, `SELECT COUNT(DISTINCT cause), COALESCE(SUM(letters), 0),
		COALESCE(SUM(CASE WHEN found_week >= ? THEN letters ELSE 0 END), 0), COALESCE(SUM(returned), 0),
		COALESCE(SUM(CASE WHEN expires_week > 0 AND expires_week <= ? THEN letters ELSE 0 END), 0)
		FROM tallies WHERE letters > 0 AND status IN ('open', 'expired')`, week, week).
		Scan(&sum.Causes, &sum.Letters, &sum.New, &sum.Returned, &sum.Expiring)
	if err != nil {
		return sum, fmt.Errorf("sum up the review: %w", err)
	}
	return sum, nil
}

// NewSinceReview counts the letters that came in since the last review,
// whatever became of them.
func (s *Store) NewSinceReview(ctx context.Context) (int64, error) {
	var n int64
	err := s.read.QueryRowContext(ctx, `SELECT COALESCE(SUM(letters), 0) FROM tallies WHERE found_week >= ?`, s.week(time.Now())).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count the letters since the last review: %w", err)
	}
	return n, nil
}
