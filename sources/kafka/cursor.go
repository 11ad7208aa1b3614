package kafka

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/unwedge/unwedge/sources"
)

// cursor is how far the letters of a topic were read. It belongs to a topic
// id: of a topic that was deleted and made again everything is new.
type cursor struct {
	TopicID string          `json:"id"`
	Next    map[int32]int64 `json:"next"` // the next offset to be read
	// From is where reading began in partitions that still have older letters.
	From map[int32]int64 `json:"from,omitempty"`
	// Pending are partitions that have not been read yet because they could not
	// be. A partition that is in neither list was added since.
	Pending []int32 `json:"pending,omitempty"`
}

func parseCursor(raw []byte) (cursor, error) {
	var c cursor
	if err := json.Unmarshal(raw, &c); err != nil {
		return cursor{}, fmt.Errorf("the stored cursor cannot be read: %w", err)
	}
	return c, nil
}

// bytes is the cursor as it is stored: the same for the same position.
func (c cursor) bytes() []byte {
	raw, err := json.Marshal(c)
	if err != nil {
		panic(err) // maps of numbers
	}
	return raw
}

func (c cursor) clone() cursor {
	c.Next, c.From = maps.Clone(c.Next), maps.Clone(c.From)
	if c.Next == nil {
		c.Next = map[int32]int64{}
	}
	if c.From == nil {
		c.From = map[int32]int64{}
	}
	return c
}

// older counts offsets before the beginning of our reading that the log still
// has, and forgets beginnings that retention has passed.
func (c cursor) older(starts map[int32]int64) int64 {
	var n int64
	for p, from := range c.From {
		start, known := starts[p]
		switch {
		case known && start >= from:
			delete(c.From, p)
		case known:
			n += from - start
		}
	}
	return n
}

// ahead tells whether a partition has something that the cursor has not.
func (c cursor) ahead(tp sources.TopicPartition, stable int64) bool {
	next, read := c.Next[tp.Partition]
	return !read || stable > next
}
