package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

const (
	// inlineBody is the size up to which a body stands beside its letter.
	inlineBody = 64 << 10
	// previewSize is how much of a larger one does.
	previewSize = 16 << 10
)

// Cursor is where to go on in a queue; nil when it was never read.
func (s *Store) Cursor(ctx context.Context, source, queue string) ([]byte, error) {
	var c bytesOrNull
	err := s.read.QueryRowContext(ctx, `SELECT MAX(read_from) FROM queues WHERE source = ? AND name = ?`, source, queue).Scan(&c)
	if err != nil {
		return nil, fmt.Errorf("read the cursor of %s in %s: %w", queue, source, err)
	}
	return c, nil
}

// Take keeps a look at a dead-letter queue: letters, causes, counts, what came
// back, what expired, and the cursor, in one transaction.
func (s *Store) Take(ctx context.Context, look review.Look) (review.Taken, error) {
	var taken review.Taken
	err := s.in(ctx, func(tx *sql.Tx) error {
		t := &taking{s: s, tx: tx, look: look}
		err := t.all(ctx)
		taken = t.taken
		return err
	})
	if err != nil {
		return review.Taken{}, fmt.Errorf("store a look at %s in %s: %w", look.Queue, look.Source, err)
	}
	if len(taken.New) > 0 {
		s.index.wakeUp()
	}
	return taken, nil
}

// taking is one Take.
type taking struct {
	s     *Store
	tx    *sql.Tx
	look  review.Look
	queue int64
	topic string // id of the topic as last read
	// caughtUp is when the queue had last been read to its end before this look.
	caughtUp int64
	taken    review.Taken

	causes map[string]int64
	lives  map[string]life // by id of the letter that came back
}

func (t *taking) all(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		t.findQueue, t.findCauses, t.findLives, t.insert, t.seen, t.forgotten, t.absent, t.saveQueue,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (t *taking) findQueue(ctx context.Context) error {
	var err error
	t.queue, err = queueNumber(ctx, t.tx, t.look.Source, t.look.Queue)
	if err != nil {
		return err
	}
	err = t.tx.QueryRowContext(ctx, `SELECT broker_id, caught_up_at FROM queues WHERE number = ?`, t.queue).Scan(&t.topic, &t.caughtUp)
	for _, l := range t.look.Letters {
		if l.Place.TopicID != "" {
			t.topic = l.Place.TopicID // newer than the list of queues
		}
	}
	return err
}

// findCauses finds the numbers of the causes and adds those that are new.
func (t *taking) findCauses(ctx context.Context) error {
	t.causes = map[string]int64{}
	for causes := range slices.Chunk(t.look.Causes, 500) {
		if err := t.knownCauses(ctx, causes); err != nil {
			return err
		}
	}
	var values []any
	for _, c := range t.look.Causes {
		if t.causes[c.ID] != 0 {
			continue
		}
		n, err := numbers(ctx, t.tx, "causes", 1)
		if err != nil {
			return err
		}
		t.causes[c.ID] = n
		values = append(values, n, c.ID, c.Title, c.Why, 0, 0, micros(t.look.At))
	}
	_, err := insertRows(ctx, t.tx, `INSERT INTO causes (number, id, title, why, first_seen, last_seen, added_at)`, 7, values, "")
	return err
}

func (t *taking) knownCauses(ctx context.Context, causes []review.Cause) error {
	ids := make([]string, len(causes))
	for i, c := range causes {
		ids[i] = c.ID
	}
	in, args := inList("id", ids)
	return each(ctx, t.tx, func(r *sql.Rows) error {
		var id string
		var n int64
		err := r.Scan(&id, &n)
		t.causes[id] = n
		return err
	}, `SELECT id, number FROM causes WHERE `+in, args...)
}

// insert adds the letters that are not known yet, and what goes with them.
func (t *taking) insert(ctx context.Context) error {
	if len(t.look.Letters) == 0 {
		return nil
	}
	first, err := numbers(ctx, t.tx, "letters", len(t.look.Letters))
	if err != nil {
		return err
	}
	values := make([]any, 0, len(t.look.Letters)*letterWidth)
	for i, l := range t.look.Letters {
		values = t.letterRow(values, first+int64(i), l)
	}
	n, err := insertRows(ctx, t.tx, `INSERT INTO letters (`+letterColumns+`)`, letterWidth, values, `ON CONFLICT (id) DO NOTHING`)
	if err != nil {
		return fmt.Errorf("insert letters: %w", err)
	}
	fresh, err := t.fresh(ctx, first, n)
	if err != nil || len(fresh) == 0 {
		return err
	}
	for _, step := range []func(context.Context, []numberedLetter) error{t.payloads, t.count, t.seenCauses, t.cameBack} {
		if err := step(ctx, fresh); err != nil {
			return err
		}
	}
	return nil
}

// numberedLetter is a letter that was inserted.
type numberedLetter struct {
	number int64
	review.Letter
}

// fresh are the letters that were inserted, in their order.
func (t *taking) fresh(ctx context.Context, first, inserted int64) ([]numberedLetter, error) {
	fresh := make([]numberedLetter, 0, inserted)
	in := func(n int64) {
		l := t.look.Letters[n-first]
		fresh = append(fresh, numberedLetter{n, l})
		t.taken.New = append(t.taken.New, l.ID)
	}
	if all := int64(len(t.look.Letters)); inserted == all {
		for n := first; n < first+all; n++ {
			in(n)
		}
		return fresh, nil
	}
	list, err := column[int64](ctx, t.tx, `SELECT number FROM letters WHERE number >= ? ORDER BY number`, first)
	for _, n := range list {
		in(n)
	}
	return fresh, err
}

// payloads adds the bytes of letters.
func (t *taking) payloads(ctx context.Context, fresh []numberedLetter) error {
	values := make([]any, 0, len(fresh)*payloadWidth)
	for _, l := range fresh {
		body := l.Body
		if len(body) > inlineBody {
			if _, err := t.tx.ExecContext(ctx, `INSERT INTO large_bodies (letter, body) VALUES (?, ?)`, l.number, body); err != nil {
				return fmt.Errorf("insert a large body: %w", err)
			}
			body = body[:previewSize]
		}
		var err error
		if values, err = payloadRow(values, l, body); err != nil {
			return err
		}
	}
	if _, err := insertRows(ctx, t.tx, `INSERT INTO payloads (`+payloadColumns+`)`, payloadWidth, values, ""); err != nil {
		return fmt.Errorf("insert payloads: %w", err)
	}
	return nil
}

func (t *taking) count(ctx context.Context, fresh []numberedLetter) error {
	more := tallies{}
	for _, l := range fresh {
		a := amount{letters: 1}
		if _, ok := t.lives[l.ID]; ok {
			a.returned = 1
			t.taken.Returned++
		}
		more.add(tally{t.causes[l.CauseID], t.queue, l.Status, t.s.week(l.ListedAt()), t.s.week(l.FoundAt), t.s.week(l.ExpiresAt)}, a)
	}
	return more.save(ctx, t.tx)
}

// seenCauses notes when each cause was seen, and where its letters came from.
func (t *taking) seenCauses(ctx context.Context, fresh []numberedLetter) error {
	type span struct{ first, last int64 }
	spans := map[int64]span{}
	origins := map[[2]any]bool{}
	for _, l := range fresh {
		n, at := t.causes[l.CauseID], micros(l.ListedAt())
		s, known := spans[n]
		if !known {
			s = span{at, at}
		}
		spans[n] = span{min(s.first, at), max(s.last, at)}
		if l.Origin.Queue != "" {
			origins[[2]any{n, l.Origin.Queue}] = true
		}
	}
	for n, s := range spans {
		_, err := t.tx.ExecContext(ctx, `UPDATE causes SET
			first_seen = CASE WHEN first_seen = 0 OR first_seen > ? THEN ? ELSE first_seen END,
			last_seen = CASE WHEN last_seen < ? THEN ? ELSE last_seen END WHERE number = ?`, s.first, s.first, s.last, s.last, n)
		if err != nil {
			return err
		}
	}
	var values []any
	for o := range origins {
		values = append(values, o[0], o[1])
	}
	_, err := insertRows(ctx, t.tx, `INSERT INTO cause_origins (cause, origin)`, 2, values, `ON CONFLICT (cause, origin) DO NOTHING`)
	return err
}

// seen deals with letters that were known: on SQS the broker counts another
// receive, and one that was thought to be gone is there after all.
func (t *taking) seen(ctx context.Context) error {
	if len(t.taken.New) == len(t.look.Letters) {
		return nil
	}
	fresh := map[string]bool{}
	for _, id := range t.taken.New {
		fresh[id] = true
	}
	var again []string
	for _, l := range t.look.Letters {
		if fresh[l.ID] || l.Place.MessageID == "" {
			continue
		}
		again = append(again, l.ID)
		if err := t.lookedAgain(ctx, l); err != nil {
			return err
		}
	}
	if err := t.backAgain(ctx, again); err != nil {
		return err
	}
	return t.turn(ctx, again, review.Expired, review.Open)
}

// backAgain has letters taken off their queue once more that were, and are seen
// again: a standard queue may deliver a message after it was deleted.
func (t *taking) backAgain(ctx context.Context, ids []string) error {
	for chunk := range slices.Chunk(ids, 500) {
		in, args := inList("id", chunk)
		_, err := t.tx.ExecContext(ctx, `UPDATE removals SET done_at = 0, due_at = ? WHERE done_at BETWEEN 1 AND ? AND letter IN
			(SELECT number FROM letters WHERE status IN ('discarded', 'redriven') AND `+in+`)`,
			append([]any{micros(t.look.At), micros(t.look.At.Add(-backAgainAfter))}, args...)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// backAgainAfter is how long after its deletion a message that is seen has not
// merely been under way.
const backAgainAfter = 2 * time.Minute

// lookedAgain keeps what the broker says of a message now. How often it was
// attempted is what it was at the first look: since then the count is ours too.
func (t *taking) lookedAgain(ctx context.Context, l review.Letter) error {
	if _, err := t.tx.ExecContext(ctx, `UPDATE letters SET looks = looks + ? WHERE id = ?`, l.Looks, l.ID); err != nil {
		return err
	}
	_, err := t.tx.ExecContext(ctx, `UPDATE payloads SET system = ? WHERE letter = (SELECT number FROM letters WHERE id = ?)`, encodeMap(l.System), l.ID)
	return err
}

// turn gives those of the letters that have one status another, and says so.
func (t *taking) turn(ctx context.Context, ids []string, from, to review.Status) error {
	for chunk := range slices.Chunk(ids, 500) {
		in, args := inList("id", chunk)
		list, err := column[string](ctx, t.tx, `SELECT id FROM letters WHERE status = ? AND `+in, append([]any{string(from)}, args...)...)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			continue
		}
		in, args = inList("id", list)
		if err := move(ctx, t.tx, to, in, args...); err != nil {
			return err
		}
		t.taken.Changed = append(t.taken.Changed, list...)
	}
	return nil
}

// forgotten expires letters below the log start, and those of a topic that was
// deleted and made again.
func (t *taking) forgotten(ctx context.Context) error {
	for line, start := range t.look.Start {
		if err := t.forget(ctx, `line = ? AND place < ? AND (topic_id = ? OR ? = '')`, line, start, t.topic, t.topic); err != nil {
			return err
		}
	}
	if t.topic == "" || t.look.Start == nil && len(t.look.Letters) == 0 {
		return nil
	}
	return t.forget(ctx, otherTopic, t.topic)
}

// otherTopic are letters of a topic that was deleted, or made again since.
const otherTopic = `topic_id <> ? AND topic_id <> ''`

// forget expires letters of the queue that are still to be decided. What was
// decided of the others may be taken back: then they are expired too.
func (t *taking) forget(ctx context.Context, which string, args ...any) error {
	args = append([]any{t.queue}, args...)
	gone, err := column[string](ctx, t.tx, `SELECT id FROM letters WHERE queue = ? AND shelf IN ('open', 'snoozed') AND `+which, args...)
	if err != nil {
		return err
	}
	if err := expiredBefore(ctx, t.tx, which, args...); err != nil {
		return err
	}
	return t.expire(ctx, gone)
}

// expiredBefore notes of letters that are being redriven, or are discarded, that
// they will be expired when that comes to nothing. which is a condition on
// letters of one queue, whose number is the first argument. Those that are being
// redriven are found by the redrives at work: their shelf has all that ever were.
func expiredBefore(ctx context.Context, tx *sql.Tx, which string, args ...any) error {
	_, err := tx.ExecContext(ctx, `UPDATE items SET status_before = 'expired' WHERE status_before <> 'expired' AND state IN ('planned', 'sending')
		AND redrive IN (SELECT number FROM redrives WHERE ended_at = 0)
		AND EXISTS (SELECT 1 FROM letters WHERE letters.number = items.letter AND queue = ? AND status = 'redriving' AND `+which+`)`, args...)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE discard_items SET status_before = 'expired' WHERE status_before <> 'expired' AND state = 'discarded'
		AND letter IN (SELECT number FROM letters WHERE queue = ? AND shelf = 'discarded' AND `+which+`)`, args...)
	return err
}

// absent expires SQS letters that a finished sweep has not seen.
func (t *taking) absent(ctx context.Context) error {
	if t.look.Present == nil {
		return nil
	}
	var gone []string
	err := each(ctx, t.tx, func(r *sql.Rows) error {
		var id, message string
		err := r.Scan(&id, &message)
		if err == nil && !t.look.Present[message] {
			gone = append(gone, id)
		}
		return err
	}, `SELECT id, message_id FROM letters WHERE queue = ? AND shelf IN ('open', 'snoozed') AND message_id <> ''`, t.queue)
	if err != nil {
		return err
	}
	return t.expire(ctx, gone)
}

func (t *taking) expire(ctx context.Context, ids []string) error {
	if err := t.turn(ctx, ids, review.Open, review.Expired); err != nil {
		return err
	}
	return t.turn(ctx, ids, review.Snoozed, review.Expired)
}

func (t *taking) saveQueue(ctx context.Context) error {
	text := ""
	if t.look.Err != nil {
		text = t.look.Err.Error()
	}
	_, err := t.tx.ExecContext(ctx, `UPDATE queues SET read_from = COALESCE(?, read_from), note = ?, scan_error = ?,
		older = CASE WHEN ? THEN ? ELSE older END, scanned_at = CASE WHEN ? THEN ? ELSE scanned_at END,
		caught_up_at = CASE WHEN ? THEN ? ELSE caught_up_at END WHERE number = ?`,
		t.look.Cursor, t.look.Note, text, t.look.Scanned, t.look.Older, t.look.Scanned, micros(t.look.At),
		t.look.Scanned && !t.look.More, micros(t.look.At), t.queue)
	if err != nil {
		return fmt.Errorf("move the cursor: %w", err)
	}
	return nil
}

// letterRow appends the values of a letter's row.
func (t *taking) letterRow(values []any, n int64, l review.Letter) []any {
	before := t.lives[l.ID]
	return append(values, n, l.ID, t.queue, t.causes[l.CauseID], string(l.Status),
		micros(l.ListedAt()), micros(l.FoundAt), t.s.week(l.ListedAt()), t.s.week(l.FoundAt), t.s.week(l.ExpiresAt),
		string(l.Outcome), before.letter, before.returns,
		l.Place.TopicID, l.Place.Partition, l.Place.Offset, l.Place.MessageID,
		micros(l.Timestamp), micros(l.DeadAt), micros(l.FailedAt), micros(l.ExpiresAt), l.ExpiryIs,
		l.Origin.Queue, optional(l.Origin.Partition), optional(l.Origin.Offset), l.Origin.Group, micros(l.Origin.Timestamp),
		l.Reason.Class, l.Reason.RootClass, l.Reason.Message, l.Reason.Code,
		optional(l.Attempts), l.Looks, l.Convention, l.RedriveTo, l.NotTheOriginal, bodySize(l.Body), arrival(l, t.caughtUp), string(shelf(l.Status)))
}

// payloadRow appends the values of a letter's bytes.
func payloadRow(values []any, l numberedLetter, body []byte) ([]any, error) {
	earlier := ""
	if len(l.Earlier) > 0 {
		text, err := json.Marshal(l.Earlier)
		if err != nil {
			return nil, fmt.Errorf("letter %s: its earlier origins: %w", l.ID, err)
		}
		earlier = string(text)
	}
	return append(values, l.number, l.Key, l.OriginalKey, body, encodeHeaders(l.Headers), encodeMap(l.System),
		encodeNames(l.ErrorHeaders), encodeNames(l.Inferred), earlier, l.Reason.Stack), nil
}

func bodySize(body []byte) int64 {
	if body == nil {
		return sources.NotKnown
	}
	return int64(len(body))
}

// The columns of a row as they are written.
const (
	letterWidth   = 39
	letterColumns = `number, id, queue, cause, status, listed_at, found_at, died_week, found_week, expires_week, outcome, returned_from, returns,
		topic_id, line, place, message_id, recorded_at, dead_at, failed_at, expires_at, expiry_is,
		origin_queue, origin_partition, origin_offset, origin_group, origin_at,
		reason_class, reason_root, reason_message, reason_code, attempts, looks, convention, redrive_to, not_original, body_size, arrived_at, shelf`
	payloadWidth   = 10
	payloadColumns = `letter, key, original_key, body, headers, system, error_headers, inferred, earlier, stack`
)
