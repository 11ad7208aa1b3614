package store

import (
	"context"
	"slices"
	"strings"

	"github.com/unwedge/unwedge/review"
)

// choice is a filter whose names have become numbers.
type choice struct {
	statuses []string
	queues   []int64 // nil: all
	causes   []int64 // nil: all
	text     string  // condition on l.number; "" without a text
	textArgs []any
}

// choose looks up the names of a filter. A name that is not known selects
// nothing.
func (s *Store) choose(ctx context.Context, q querier, f review.Filter) (choice, error) {
	c := choice{}
	for _, status := range f.Status {
		c.statuses = append(c.statuses, string(status))
	}
	if len(f.Status) == 0 {
		c.statuses = []string{string(review.Open), string(review.Expired)}
	}
	var err error
	if len(f.Sources)+len(f.Queues) > 0 {
		if c.queues, err = chosenQueues(ctx, q, f); err != nil {
			return c, err
		}
	}
	if len(f.Causes) > 0 {
		in, args := inList("id", f.Causes)
		if c.causes, err = column[int64](ctx, q, `SELECT number FROM causes WHERE `+in, args...); err != nil {
			return c, err
		}
		c.causes = append([]int64{}, c.causes...)
	}
	if strings.TrimSpace(f.Text) != "" {
		c.text, c.textArgs, err = s.find(ctx, q, f.Text)
	}
	return c, err
}

func chosenQueues(ctx context.Context, q querier, f review.Filter) ([]int64, error) {
	where, args := "1 = 1", []any{}
	for name, values := range map[string][]string{"source": f.Sources, "name": f.Queues} {
		if len(values) > 0 {
			in, more := inList(name, values)
			where, args = where+" AND "+in, append(args, more...)
		}
	}
	list, err := column[int64](ctx, q, `SELECT number FROM queues WHERE `+where, args...)
	return append([]int64{}, list...), err
}

// where is the choice without its text as a condition on the columns of tallies.
func (c choice) where(table string) (string, []any) {
	in, args := inList(table+".status", c.statuses)
	if c.queues != nil {
		in += " AND " + numberList(table+".queue", c.queues)
	}
	if c.causes != nil {
		in += " AND " + numberList(table+".cause", c.causes)
	}
	return in, args
}

// whereStands is the choice without its text as a condition on letters. Their
// indexes have the shelf; which of its letters are meant the status says.
func (c choice) whereStands() (string, []any) {
	var shelves []string
	for _, status := range c.statuses {
		if on := string(shelf(review.Status(status))); !slices.Contains(shelves, on) {
			shelves = append(shelves, on)
		}
	}
	on, first := inList("letters.shelf", shelves)
	in, args := c.where("letters")
	return on + " AND " + in, append(first, args...)
}

// whereLetters is the whole choice as a condition on letters.
func (c choice) whereLetters() (string, []any) {
	in, args := c.whereStands()
	if c.text != "" {
		in, args = in+" AND "+c.text, append(args, c.textArgs...)
	}
	return in, args
}

// counted is a table of tallies for the choice: the kept one or, where a text is
// to be found, one counted from the letters.
func (c choice) counted() (table string, args []any) {
	if c.text == "" {
		in, args := c.where("tallies")
		return `(SELECT * FROM tallies WHERE letters > 0 AND ` + in + `)`, args
	}
	in, args := c.whereLetters()
	return `(` + countLetters + ` WHERE ` + in + countBy + `)`, args
}

// total is how many letters the choice has.
func (c choice) total(ctx context.Context, q querier) (int64, error) {
	table, args := c.counted()
	var n int64
	err := q.QueryRowContext(ctx, `SELECT COALESCE(SUM(letters), 0) FROM `+table+` AS t`, args...).Scan(&n)
	return n, err
}
