package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/unwedge/unwedge/review"
)

// life is the letter that another one was before it was redriven.
type life struct {
	item    string
	letter  string // id
	returns int64  // how many lives the new one had before
}

// findLives finds which of the letters we have sent before: by where they came
// from, which is where the broker put what we sent, else by the lineage that
// they carry, else, because many publishers drop foreign headers, by their key
// and body while letters of a redrive are waited for.
func (t *taking) findLives(ctx context.Context) error {
	t.lives = map[string]life{}
	var sent int64
	err := t.tx.QueryRowContext(ctx, `SELECT value FROM counters WHERE name = 'items'`).Scan(&sent)
	if err != nil || sent == 0 || len(t.look.Letters) == 0 {
		return err
	}
	for _, find := range []func(context.Context) error{t.byMessage, t.byOffset, t.byLineage, t.byContent} {
		if err := find(ctx); err != nil {
			return fmt.Errorf("find letters that came back: %w", err)
		}
	}
	return nil
}

const findItem = `SELECT i.id, l.id, l.returns + 1 FROM items i JOIN letters l ON l.number = i.letter WHERE `

func (t *taking) byLineage(ctx context.Context) error {
	byItem := map[string][]string{}
	for _, l := range t.look.Letters {
		if from, ok := review.LineageOf(l.Headers); ok {
			byItem[from.Item] = append(byItem[from.Item], l.ID)
		}
	}
	return t.came(ctx, "i.id", byItem)
}

// byMessage finds SQS letters: a message keeps its id when it is dead-lettered.
func (t *taking) byMessage(ctx context.Context) error {
	byMessage := map[string][]string{}
	for _, l := range t.look.Letters {
		if id := l.Place.MessageID; id != "" {
			byMessage[id] = append(byMessage[id], l.ID)
		}
	}
	return t.came(ctx, "i.receipt_message", byMessage)
}

// came looks up items by a text, and notes them for the letters that have it.
func (t *taking) came(ctx context.Context, column string, letters map[string][]string) error {
	var keys []string
	for k := range letters {
		keys = append(keys, k)
	}
	for chunk := range slices.Chunk(keys, 500) {
		in, args := inList(column, chunk)
		err := each(ctx, t.tx, func(r *sql.Rows) error {
			var key string
			var l life
			if err := r.Scan(&l.item, &l.letter, &l.returns, &key); err != nil {
				return err
			}
			for _, id := range letters[key] {
				t.live(id, l)
			}
			return nil
		}, `SELECT i.id, l.id, l.returns + 1, `+column+` FROM items i JOIN letters l ON l.number = i.letter WHERE `+column+` <> '' AND i.source = ? AND `+in,
			append([]any{t.look.Source}, args...)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// live notes a life before, unless a surer way has found one already.
func (t *taking) live(id string, l life) {
	if _, known := t.lives[id]; !known && l.letter != id {
		t.lives[id] = l
	}
}

// line is a partition that letters came from.
type line struct {
	queue     string
	partition int64
}

// sameTopic holds for an item whose target topic was not deleted and made again
// since, as far as is known: the offsets of another topic say nothing.
const sameTopic = `NOT EXISTS (SELECT 1 FROM queues q WHERE q.source = i.source AND q.name = i.target_queue AND q.broker_id <> '' AND q.broker_id <> i.target_topic_id)`

// byOffset finds Kafka letters whose origin is where we have put a letter. Most
// partitions have no such place, or none near: they cost one look each.
func (t *taking) byOffset(ctx context.Context) error {
	spans := map[line][2]int64{}
	for _, l := range t.look.Letters {
		o := l.Origin
		if o.Queue == "" || o.Partition == nil || o.Offset == nil {
			continue
		}
		at := line{o.Queue, int64(*o.Partition)}
		span, known := spans[at]
		if !known {
			var err error
			if span, err = t.span(ctx, at); err != nil {
				return err
			}
			spans[at] = span
		}
		if *o.Offset < span[0] || *o.Offset > span[1] {
			continue
		}
		var from life
		err := t.tx.QueryRowContext(ctx, findItem+`i.target_queue = ? AND i.receipt_partition = ? AND i.receipt_offset = ? AND i.source = ? AND `+sameTopic,
			at.queue, at.partition, *o.Offset, t.look.Source).Scan(&from.item, &from.letter, &from.returns)
		if err == nil {
			t.live(l.ID, from)
		} else if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return nil
}

// span is where in a partition our first and our last letter lie.
func (t *taking) span(ctx context.Context, at line) ([2]int64, error) {
	span := [2]int64{0, -1}
	for i, order := range []string{"ASC", "DESC"} {
		list, err := column[int64](ctx, t.tx, `SELECT receipt_offset FROM items WHERE target_queue = ? AND receipt_partition = ? AND receipt_offset >= 0
			ORDER BY receipt_offset `+order+` LIMIT 1`, at.queue, at.partition)
		if err != nil || len(list) == 0 {
			return span, err
		}
		span[i] = list[0]
	}
	return span, nil
}

// cameBack tells the redrives which of their letters came back. One that is not
// settled at its source yet is settled first, and counts as back then. That one
// came back of which nobody could tell is the proof that it had arrived.
func (t *taking) cameBack(ctx context.Context, fresh []numberedLetter) error {
	var redrives []int64
	for _, l := range fresh {
		from, ok := t.lives[l.ID]
		if !ok {
			continue
		}
		redrive, err := t.returned(ctx, from, l.ID)
		if err != nil {
			return err
		}
		t.taken.Changed = append(t.taken.Changed, from.letter)
		if !slices.Contains(redrives, redrive) {
			redrives = append(redrives, redrive)
		}
	}
	for _, n := range redrives {
		if err := reword(ctx, t.tx, n); err != nil {
			return err
		}
	}
	ids, err := column[string](ctx, t.tx, `SELECT id FROM redrives WHERE `+numberList("number", redrives))
	t.taken.Redrives = append(t.taken.Redrives, ids...)
	return err
}

// returned writes that a letter came back, and as which. It gives the number of
// its redrive.
func (t *taking) returned(ctx context.Context, from life, as string) (redrive int64, err error) {
	var state review.ItemState
	err = t.tx.QueryRowContext(ctx, `UPDATE items SET came_back_as = ? WHERE id = ? RETURNING redrive, state`, as, from.item).Scan(&redrive, &state)
	if err != nil {
		return 0, err
	}
	if _, err := moveItems(ctx, t.tx, review.ItemReturned, `id = ? AND state IN ('confirmed', 'consumed', 'unknown')`, from.item); err != nil {
		return 0, err
	}
	if state == review.ItemUnknown {
		if err := t.arrivedAfterAll(ctx, from, as); err != nil {
			return 0, err
		}
	}
	_, err = t.tx.ExecContext(ctx, `UPDATE letters SET outcome = 'returned' WHERE id = ? AND status = 'redriven'`, from.letter)
	return redrive, err
}

// arrivedAfterAll settles a letter whose copy came back although nobody could
// tell whether it had arrived.
func (t *taking) arrivedAfterAll(ctx context.Context, from life, as string) error {
	if err := move(ctx, t.tx, review.Redriven, `id = ? AND status = 'unknown'`, from.letter); err != nil {
		return err
	}
	if err := removeNow(ctx, t.tx, t.look.At, `id = ?`, from.letter); err != nil {
		return err
	}
	return writeAudit(ctx, t.tx, t.look.At, auditEntry{"", "redrive", from.letter, "it had arrived: it came back as " + as})
}
