package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/unwedge/unwedge/review"
)

// The index of words is SQLite's own (FTS5), and everything that knows so is in
// this file. It has no copy of the text; a row of it is a letter's number. The
// words are made by review.Words, so that the tokenizer has nothing left to
// decide and letters that are not in the index yet are searched the same way.
//
// Indexing costs more than storing. It is done behind the arrivals, by one
// goroutine, when no letters have come for a moment or those not indexed are
// many; a search looks through those itself.

const (
	// indexAtOnce is how many letters one transaction indexes: about 20 ms.
	indexAtOnce = 1000
	// quiet is how long nothing must have come before letters are indexed.
	quiet = 100 * time.Millisecond
	// tailMost is how many letters may wait for their indexing while more come:
	// a search reads about 20,000 letters a second. Beyond it they are indexed all
	// the same, in a fifth of the time; beyond tailFar in half of it.
	tailMost = 10_000
	tailFar  = 100_000
	// indexedBody is how much of a body is searched, in bytes.
	indexedBody = 1 << 20
	// fieldBreak is a word that no text has: no phrase reaches over it.
	fieldBreak = "\ue000"
)

// makeIndex makes the index where it is not there yet.
func (s *Store) makeIndex(ctx context.Context) error {
	_, err := s.write.ExecContext(ctx, `CREATE VIRTUAL TABLE IF NOT EXISTS letters_words
		USING fts5(words, content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 0 categories 'L* N* Co M*'")`)
	return err
}

// find is a condition that a letter has the words of the text in a row, the
// last one as a beginning. It reads the letters that are not indexed yet.
func (s *Store) find(ctx context.Context, q querier, text string) (string, []any, error) {
	wanted := review.Words([]byte(text))
	if len(wanted) == 0 {
		return "1 = 0", nil, nil
	}
	var indexed int64
	if err := q.QueryRowContext(ctx, `SELECT value FROM counters WHERE name = 'indexed'`).Scan(&indexed); err != nil {
		return "", nil, err
	}
	var tail []int64
	err := eachText(ctx, q, indexed, 1<<62, func(n int64, fields [][]byte) error {
		for _, f := range fields {
			if review.HasWords(review.Words(f), wanted) {
				tail = append(tail, n)
				break
			}
		}
		return nil
	})
	if err != nil {
		return "", nil, err
	}
	hits := `SELECT rowid FROM letters_words WHERE letters_words MATCH ?`
	if len(tail) > 0 {
		hits += ` UNION ALL SELECT number FROM letters WHERE ` + numberList("number", tail)
	}
	return `letters.number IN (` + hits + `)`, []any{`"` + strings.Join(wanted, " ") + `" *`}, nil
}

// eachText gives the texts of letters, one after the other: those after a
// number, at most so many.
func eachText(ctx context.Context, q querier, after, most int64, f func(number int64, fields [][]byte) error) error {
	return each(ctx, q, func(r *sql.Rows) error {
		var n int64
		var id, class, root, message, code, stack string
		var key, body, headers bytesOrNull
		if err := r.Scan(&n, &id, &class, &root, &message, &code, &stack, &key, &body, &headers); err != nil {
			return err
		}
		fields := [][]byte{[]byte(id), key, body[:min(len(body), indexedBody)]}
		for _, text := range []string{class, root, message, code, stack} {
			fields = append(fields, []byte(text))
		}
		list, err := decodeHeaders(headers)
		if err != nil {
			return fmt.Errorf("letter %s: its headers: %w", id, err)
		}
		for _, h := range list {
			fields = append(fields, []byte(h.Name), h.Value)
		}
		return f(n, fields)
	}, `SELECT l.number, l.id, l.reason_class, l.reason_root, l.reason_message, l.reason_code, p.stack, p.key, COALESCE(b.body, p.body), p.headers
		FROM letters l JOIN payloads p ON p.letter = l.number LEFT JOIN large_bodies b ON b.letter = l.number
		WHERE l.number > ? ORDER BY l.number LIMIT ?`, after, most)
}

// indexer indexes letters behind their arrival.
type indexer struct {
	wake   chan struct{}
	cancel context.CancelFunc
	done   sync.WaitGroup
	last   atomic.Int64 // when letters last came, in microseconds
}

func (x *indexer) start(s *Store) {
	ctx, cancel := context.WithCancel(context.Background())
	x.wake, x.cancel = make(chan struct{}, 1), cancel
	x.wake <- struct{}{} // an earlier run may have left some
	x.done.Go(func() { x.run(ctx, s) })
}

func (x *indexer) end() {
	x.cancel()
	x.done.Wait()
}

func (x *indexer) wakeUp() {
	x.last.Store(time.Now().UnixMicro())
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

func (x *indexer) run(ctx context.Context, s *Store) {
	for {
		select {
		case <-x.wake:
		case <-ctx.Done():
			return
		}
		if err := x.catchUp(ctx, s); err != nil && ctx.Err() == nil {
			slog.Warn("letters could not be indexed: searching them is slower", "error", err)
		}
	}
}

// catchUp indexes until nothing is left.
func (x *indexer) catchUp(ctx context.Context, s *Store) error {
	for ctx.Err() == nil {
		left, err := s.unindexed(ctx)
		if err != nil || left == 0 {
			return err
		}
		busy := quiet - time.Since(time.UnixMicro(x.last.Load()))
		if busy > 0 && left < tailMost {
			pause(ctx, busy)
			continue
		}
		begin := time.Now()
		if err := s.indexSome(ctx); err != nil {
			return err
		}
		if busy > 0 {
			pause(ctx, restAfter(time.Since(begin), left))
		}
	}
	return nil
}

// restAfter is how long the arrivals have the store to themselves after it was
// busy with the index.
func restAfter(took time.Duration, left int64) time.Duration {
	if left > tailFar {
		return took
	}
	return 4 * took
}

// pause waits, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// unindexed is how many letters are not in the index yet.
func (s *Store) unindexed(ctx context.Context) (int64, error) {
	var n int64
	err := s.read.QueryRowContext(ctx, `SELECT (SELECT value FROM counters WHERE name = 'letters') - (SELECT value FROM counters WHERE name = 'indexed')`).Scan(&n)
	return n, err
}

// entry is a letter as it goes into the index.
type entry struct {
	number int64
	words  string
}

// indexSome indexes the next letters. Their words are made outside of the
// transaction, which keeps the arrivals waiting for less long.
func (s *Store) indexSome(ctx context.Context) error {
	var from, last int64
	err := s.read.QueryRowContext(ctx, `SELECT (SELECT value FROM counters WHERE name = 'indexed'), (SELECT value FROM counters WHERE name = 'letters')`).Scan(&from, &last)
	if err != nil {
		return err
	}
	var entries []entry
	err = eachText(ctx, s.read, from, indexAtOnce, func(n int64, fields [][]byte) error {
		entries = append(entries, entry{n, wordsOf(fields)})
		return nil
	})
	if err != nil {
		return err
	}
	if len(entries) == indexAtOnce { // else there are none up to the last number
		last = entries[len(entries)-1].number
	}
	return s.in(ctx, func(tx *sql.Tx) error { return addEntries(ctx, tx, entries, last) })
}

func addEntries(ctx context.Context, tx *sql.Tx, entries []entry, last int64) (err error) {
	put, err := tx.PrepareContext(ctx, `INSERT INTO letters_words (rowid, words) VALUES (?, ?)`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, put.Close()) }()
	for _, e := range entries {
		if _, err := put.ExecContext(ctx, e.number, e.words); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `UPDATE counters SET value = ? WHERE name = 'indexed'`, last)
	return err
}

// wordsOf is all that can be found of a letter.
func wordsOf(fields [][]byte) string {
	var b strings.Builder
	for _, f := range fields {
		for _, w := range review.Words(f) {
			b.WriteString(w)
			b.WriteByte(' ')
		}
		b.WriteString(fieldBreak)
		b.WriteByte(' ')
	}
	return b.String()
}
