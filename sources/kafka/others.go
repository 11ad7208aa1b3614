package kafka

import (
	"context"
	"fmt"

	"github.com/unwedge/unwedge/sources"
)

// OtherReaders says which groups read a dead-letter topic, as of the last call
// of Lag: whoever consumes dead letters may send them again.
func (s *Source) OtherReaders(ctx context.Context, queue string) ([]string, error) {
	readers, err := s.Receivers(ctx, queue)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range readers {
		lag := "lag not known"
		if r.Lag != sources.NotKnown {
			lag = fmt.Sprintf("lag %d", r.Lag)
		}
		out = append(out, fmt.Sprintf("group %s reads %s: %s, %s", r.Group, queue, r.State, lag))
	}
	return out, nil
}
