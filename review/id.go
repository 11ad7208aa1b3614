package review

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/unwedge/unwedge/sources"
)

// LetterID is the id of a dead letter: the same however often it is read, by
// whatever process, and another one once its topic was deleted and made again.
func LetterID(l sources.DeadLetter) string {
	queue := l.Place.TopicID
	if queue == "" {
		queue = l.Queue
	}
	name := fmt.Sprintf("%s\x00%s\x00%d\x00%d", l.Source, queue, l.Place.Partition, l.Place.Offset)
	if l.Place.MessageID != "" {
		name = fmt.Sprintf("%s\x00%s\x00%s", l.Source, l.Queue, l.Place.MessageID)
	}
	sum := sha256.Sum256([]byte(name))
	return "dl_" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:15]))
}

// newID is an id that no other store has ever given out.
func newID(prefix string) string { return prefix + uuid.Must(uuid.NewV7()).String() }
