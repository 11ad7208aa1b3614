package web

import (
	"time"
	"unicode/utf8"

	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// Bounds of what an answer shows of a letter.
const (
	mostListedValue = 64 << 10 // bytes of a value in a list
	mostText        = 1 << 20  // bytes that are also shown as text
)

type lettersJSON struct {
	DeadLetters []letterJSON `json:"dead_letters"`
	NextCursor  *string      `json:"next_cursor"`
	Total       int64        `json:"total"`
}

type letterJSON struct {
	ID             string       `json:"id"`
	Source         string       `json:"source"`
	Queue          string       `json:"queue"`
	Place          any          `json:"place"` // offsetPlace or messagePlace
	Origin         originJSON   `json:"origin"`
	Reason         reasonJSON   `json:"reason"`
	Convention     *string      `json:"convention"`
	Cause          *string      `json:"cause"`
	Attempts       *int         `json:"attempts"`
	FailedAt       *time.Time   `json:"failed_at"`
	DeadLetteredAt *time.Time   `json:"dead_lettered_at"`
	FoundAt        *time.Time   `json:"found_at"`
	ExpiresAt      *time.Time   `json:"expires_at"`
	Expiry         *string      `json:"expiry"` // exact, not before, never
	Status         string       `json:"status"`
	Outcome        *string      `json:"outcome"`
	ReturnedFrom   *string      `json:"returned_from"`
	Key            keyJSON      `json:"key"`
	Headers        []headerJSON `json:"headers"`
	Value          valueJSON    `json:"value"`
	Lives          []lifeJSON   `json:"lives"` // null in a list
}

type offsetPlace struct {
	Partition int32 `json:"partition"`
	Offset    int64 `json:"offset"`
}

type messagePlace struct {
	MessageID string `json:"message_id"`
}

type originJSON struct {
	Queue     *string    `json:"queue"`
	Partition *int32     `json:"partition"`
	Offset    *int64     `json:"offset"`
	Group     *string    `json:"group"`
	Timestamp *time.Time `json:"timestamp"`
}

type reasonJSON struct {
	Class     *string `json:"class"`
	RootClass *string `json:"root_class"`
	Message   *string `json:"message"`
	Code      *string `json:"code"`
	Stack     *string `json:"stack"`
}

type keyJSON struct {
	Text   *string `json:"text"`
	Base64 *string `json:"base64"`
}

type headerJSON struct {
	Name        string  `json:"name"`
	NameBase64  *string `json:"name_base64"` // of a name that is not UTF-8
	Text        *string `json:"text"`
	ValueBase64 *string `json:"value_base64"`
	Type        *string `json:"type"` // data type of an SQS attribute
}

type valueJSON struct {
	Size    int64   `json:"size"`
	Format  string  `json:"format"`
	Text    *string `json:"text"`
	TextCut bool    `json:"text_cut"` // the text is only its beginning
	Base64  *string `json:"base64"`
	Kept    bool    `json:"kept"` // false once the store has forgotten the body
}

// letterOf is a letter on its own, with all its bytes.
func letterOf(l review.Letter) letterJSON {
	return letterJSON{
		ID:             l.ID,
		Source:         l.Source,
		Queue:          l.Queue,
		Place:          placeOf(l.Place),
		Origin:         originOf(l.Origin),
		Reason:         reasonOf(l.Reason),
		Convention:     known(l.Convention),
		Cause:          known(l.CauseID),
		Attempts:       l.Attempts,
		FailedAt:       instant(l.FailedAt),
		DeadLetteredAt: instant(l.DeadAt),
		FoundAt:        instant(l.FoundAt),
		ExpiresAt:      instant(l.ExpiresAt),
		Expiry:         known(l.ExpiryIs),
		Status:         string(l.Status),
		Outcome:        known(string(l.Outcome)),
		ReturnedFrom:   known(l.ReturnedFrom),
		Key:            keyJSON{Text: textOf(l.Key, mostText), Base64: inBase64(l.Key)},
		Headers:        headersOf(l.Headers),
		Value:          valueOf(l, mostText),
	}
}

// listedLetterOf is a letter in a list: a value of more than 64 KiB stays out
// of it, and only its size tells.
func listedLetterOf(l review.Letter) letterJSON {
	out := letterOf(l)
	out.Value = valueOf(l, mostListedValue)
	if l.Cut || out.Value.Size > mostListedValue {
		out.Value.Base64 = nil
	}
	return out
}

func placeOf(p sources.Place) any {
	if p.MessageID != "" {
		return messagePlace{MessageID: p.MessageID}
	}
	return offsetPlace{Partition: p.Partition, Offset: p.Offset}
}

func originOf(o sources.Origin) originJSON {
	return originJSON{Queue: known(o.Queue), Partition: o.Partition, Offset: o.Offset, Group: known(o.Group), Timestamp: instant(o.Timestamp)}
}

func reasonOf(r sources.Reason) reasonJSON {
	return reasonJSON{Class: known(r.Class), RootClass: known(r.RootClass), Message: known(r.Message), Code: known(r.Code), Stack: known(r.Stack)}
}

func headersOf(headers []sources.Header) []headerJSON {
	out := make([]headerJSON, 0, len(headers))
	for _, h := range headers {
		one := headerJSON{
			Name:        validText(h.Name),
			Text:        textOf(h.Value, mostText),
			ValueBase64: inBase64(h.Value),
			Type:        known(h.Type),
		}
		if !utf8.ValidString(h.Name) {
			one.NameBase64 = inBase64([]byte(h.Name))
		}
		out = append(out, one)
	}
	return out
}

// valueOf is the value with at most so many bytes of it as text. Without a
// body that is kept, the size is all that is still known.
func valueOf(l review.Letter, limit int) valueJSON {
	if !l.BodyKept {
		return valueJSON{Size: max(l.Size, 0), Format: payload.FormatNull}
	}
	return bytesOf(l.Body, l.Size, limit)
}

// bytesOf is a value of so many bytes, of which those given may be only the
// beginning.
func bytesOf(b []byte, size int64, limit int) valueJSON {
	size = max(size, int64(len(b)))
	shown := cutText(b, limit)
	return valueJSON{
		Size:    size,
		Format:  payload.Decode(b, limit).Format,
		Text:    textOf(shown, limit),
		TextCut: int64(len(shown)) < size,
		Base64:  inBase64(b),
		Kept:    true,
	}
}

// textOf is bytes as text as well as it goes: what is UTF-8 exactly as it is,
// anything else with its bytes made visible.
func textOf(b []byte, limit int) *string {
	if b == nil {
		return nil
	}
	b = cutText(b, limit)
	text := string(b)
	if !utf8.Valid(b) {
		text = payload.Visible(b)
	}
	return &text
}

// cutText is the beginning of a text, cut between two characters.
func cutText(b []byte, limit int) []byte {
	if len(b) <= limit {
		return b
	}
	for end := limit; end > limit-utf8.UTFMax; end-- {
		if utf8.RuneStart(b[end]) {
			return b[:end]
		}
	}
	return b[:limit]
}
