package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/unwedge/unwedge/review"
)

// rowsAtOnce is how many rows one INSERT has: more save no time.
const rowsAtOnce = 40

// numbers hands out n numbers in a row, of which it returns the first.
func numbers(ctx context.Context, tx *sql.Tx, name string, n int) (int64, error) {
	var last int64
	err := tx.QueryRowContext(ctx, `UPDATE counters SET value = value + ? WHERE name = ? RETURNING value`, n, name).Scan(&last)
	if err != nil {
		return 0, fmt.Errorf("number %d %s: %w", n, name, err)
	}
	return last - int64(n) + 1, nil
}

// marks are the parameters of one row.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// insertRows inserts rows whose values stand one after the other, and returns
// how many went in. into is everything before VALUES, after what follows.
func insertRows(ctx context.Context, tx *sql.Tx, into string, columns int, values []any, after string) (int64, error) {
	row := "(" + marks(columns) + ")"
	var done int64
	for chunk := range slices.Chunk(values, columns*rowsAtOnce) {
		rows := strings.TrimSuffix(strings.Repeat(row+",", len(chunk)/columns), ",")
		result, err := tx.ExecContext(ctx, into+" VALUES "+rows+" "+after, chunk...)
		if err != nil {
			return done, err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

// inList is a condition that a column is one of the values. Without any it is
// never true.
func inList[T any](column string, values []T) (string, []any) {
	if len(values) == 0 {
		return "1 = 0", nil
	}
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	return column + " IN (" + marks(len(values)) + ")", args
}

// numberList is a condition for many numbers, which stand in the text: SQLite
// takes 32,766 parameters at most.
func numberList(column string, numbers []int64) string {
	if len(numbers) == 0 {
		return "1 = 0"
	}
	var b strings.Builder
	b.WriteString(column + " IN (")
	for i, n := range numbers {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%d", n)
	}
	b.WriteByte(')')
	return b.String()
}

// numberSpan is a condition for many numbers, which is short when they follow on
// one another.
func numberSpan(column string, numbers []int64) string {
	for i, n := range numbers {
		if n != numbers[0]+int64(i) {
			return numberList(column, numbers)
		}
	}
	if len(numbers) < 2 {
		return numberList(column, numbers)
	}
	return fmt.Sprintf("%s BETWEEN %d AND %d", column, numbers[0], numbers[len(numbers)-1])
}

// querier is what reads: the readers' connections, or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// each calls f for each row of a query.
func each(ctx context.Context, q querier, f func(*sql.Rows) error, query string, args ...any) (err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// column collects a query's only column.
func column[T any](ctx context.Context, q querier, query string, args ...any) ([]T, error) {
	var all []T
	err := each(ctx, q, func(r *sql.Rows) error {
		var v T
		err := r.Scan(&v)
		all = append(all, v)
		return err
	}, query, args...)
	return all, err
}

// noRows makes a row that is not there ErrNotFound, with what it would have been.
func noRows(err error, what, id string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: %s %s", review.ErrNotFound, what, id)
	}
	return err
}
