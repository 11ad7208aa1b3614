package alerts

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// AdvancedAlone reads from a stored watch when the position of a line last rose
// between two readings in a row that both saw no members, and where to; the
// zero time when it never did.
func AdvancedAlone(watch []byte, p sources.Partition) (at time.Time, to int64, err error) {
	var w GroupWatch
	if err := json.Unmarshal(watch, &w); err != nil {
		return at, 0, fmt.Errorf("read what is remembered of group %s: %w", p.Group, err)
	}
	if line := w.Lines[keyOf(p)]; line != nil {
		return line.MemberlessAt, line.MemberlessTo, nil
	}
	return at, 0, nil
}
