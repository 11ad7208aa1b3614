package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

// absentTopics remembers for a while why topics of groups are not in the
// metadata of the cluster.
type absentTopics struct {
	mu   sync.Mutex
	errs map[string]error // nil: deleted
	at   time.Time
}

const askAbsentEvery = time.Minute

// hiddenTopics tells, of topics that groups read and that the metadata of the
// cluster does not list, those that are there and that we may not see: Kafka
// leaves these out of a list of all without a word. Of a deleted one nothing is
// said.
func (s *Source) hiddenTopics(ctx context.Context, c *cluster, lines map[sources.TopicPartition]bool) map[string]error {
	s.absent.mu.Lock()
	defer s.absent.mu.Unlock()
	if s.now().Sub(s.absent.at) >= askAbsentEvery {
		s.absent.errs = nil
	}
	asked := s.absent.errs
	s.absent.errs = map[string]error{}
	var ask []string
	for _, name := range topicsOf(lines) {
		if _, there := c.topics[name]; there {
			continue
		}
		if err, known := asked[name]; known {
			s.absent.errs[name] = err
		} else {
			ask = append(ask, name)
		}
	}
	if len(ask) > 0 {
		s.askAbsent(ctx, ask)
	}
	hidden := map[string]error{}
	for name, err := range s.absent.errs {
		if err != nil {
			hidden[name] = err
		}
	}
	return hidden
}

func (s *Source) askAbsent(ctx context.Context, names []string) {
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range names {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &name
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, s.client)
	if err != nil {
		for _, name := range names {
			s.absent.errs[name] = s.readable(err)
		}
		return
	}
	s.absent.at = s.now()
	for _, t := range resp.Topics {
		err := kerr.ErrorForCode(t.ErrorCode)
		switch {
		case t.Topic == nil:
			continue
		case errors.Is(err, kerr.UnknownTopicOrPartition):
			s.absent.errs[*t.Topic] = nil
		case err == nil:
			s.absent.errs[*t.Topic] = fmt.Errorf("topic %s has only just come", *t.Topic)
		default:
			s.absent.errs[*t.Topic] = fmt.Errorf("topic %s: %w", *t.Topic, readable(err))
		}
	}
}
