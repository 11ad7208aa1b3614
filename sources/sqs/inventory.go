package sqs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"github.com/unwedge/unwedge/sources"
)

// inventory is what is known of all queues.
type inventory struct {
	refreshing sync.Mutex // one refresh at a time

	mu      sync.Mutex
	queues  map[string]facts // those that the configuration selects
	names   map[string]bool  // of all queues that there are
	movesAt time.Time        // when move tasks may be asked for again
}

// Attributes are read again after shortest, and after longer where there are
// many queues, so that this costs about four requests a second at most.
const (
	shortest       = 20 * time.Second
	eachQueueTakes = 250 * time.Millisecond
)

// pageSize is asked for in every list: without it SQS gives the first thousand
// and no token for the rest (aws-cli issue 6910, boto3 issue 3406).
func pageSize() *int32 { return aws.Int32(1000) }

// Queues lists the selected queues. One that could not be read has an error of
// its own, and what was known of it before.
func (s *Source) Queues(ctx context.Context) ([]sources.Queue, error) {
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	all := s.inventory.snapshot()
	feeds := feedsOf(all)
	var out []sources.Queue
	for _, name := range slices.Sorted(maps.Keys(all)) {
		q := s.asQueue(all[name], feeds[name])
		for _, feed := range feeds[name] {
			q.GivesUpAfter = max(q.GivesUpAfter, all[feed].givesUpAfter())
		}
		out = append(out, q)
	}
	return out, nil
}

func (s *Source) asQueue(f facts, feeds []string) sources.Queue {
	q := sources.Queue{
		Source: s.cfg.Name, Name: f.name, Kind: sources.WorkQueue, ID: f.arn,
		Count: f.counts.all(), Retention: f.retention, FeedsFrom: feeds,
		RedriveTo: s.cfg.wayBack(f.name), Redriving: f.moving, ReadAt: f.readAt, Err: f.err,
	}
	if s.isDeadLetters(f.name, feeds) {
		q.Kind = sources.DeadLetterQueue
	}
	if f.arn == "" { // it was never read
		q.Count = sources.NotKnown
	}
	return q
}

// isDeadLetters tells whether a queue holds dead letters.
func (s *Source) isDeadLetters(name string, feeds []string) bool {
	return s.cfg.named(name) || len(feeds) > 0
}

// feedsOf are, by queue, the queues whose redrive policies name it: as SQS
// lists them, and as the policies that we read say.
func feedsOf(all map[string]facts) map[string][]string {
	byTarget := map[string][]string{}
	for _, f := range all {
		if f.policy.target != "" {
			byTarget[f.policy.target] = append(byTarget[f.policy.target], f.name)
		}
	}
	feeds := map[string][]string{}
	for name, f := range all {
		list := slices.Concat(f.feeds, byTarget[f.arn])
		slices.Sort(list)
		feeds[name] = slices.Compact(list)
	}
	return feeds
}

// refresh lists the queues and reads those that are due: dead-letter queues
// each time, for their counts, and the others less often.
func (s *Source) refresh(ctx context.Context) error {
	s.inventory.refreshing.Lock()
	defer s.inventory.refreshing.Unlock()
	urls, err := s.list(ctx)
	if err != nil {
		return err
	}
	before := s.inventory.snapshot()
	now, names := map[string]facts{}, map[string]bool{}
	for _, url := range urls {
		name := queueName(url)
		names[name] = true
		if !s.cfg.Queues.Match(name) && !s.cfg.named(name) {
			continue
		}
		f := before[name]
		f.name, f.url, f.fifo = name, s.queueURL(url), strings.HasSuffix(name, ".fifo")
		now[name] = f
	}
	s.readDue(ctx, now)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.inventory.replace(now, names)
	return nil
}

// list gives the URLs of all queues.
func (s *Source) list(ctx context.Context) ([]string, error) {
	var urls []string
	pages := sqs.NewListQueuesPaginator(s.client, &sqs.ListQueuesInput{MaxResults: pageSize()}, func(o *sqs.ListQueuesPaginatorOptions) {
		o.StopOnDuplicateToken = true // an emulator may ignore the token
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the queues: %w", readable("ListQueues", "*", err))
		}
		urls = append(urls, page.QueueUrls...)
	}
	return urls, nil
}

// readDue reads what is new, old, or holds dead letters. Each queue has its own
// error.
func (s *Source) readDue(ctx context.Context, queues map[string]facts) {
	age := max(shortest, time.Duration(len(queues))*eachQueueTakes)
	feeds := feedsOf(queues)
	var mu sync.Mutex
	var all errgroup.Group
	all.SetLimit(callsAtOnce)
	for name, f := range maps.Clone(queues) {
		stale := s.now().Sub(f.readAt) >= age
		if !stale && !s.isDeadLetters(name, feeds[name]) {
			continue
		}
		all.Go(func() error {
			s.readOne(ctx, &f, stale)
			mu.Lock()
			defer mu.Unlock()
			queues[name] = f
			return nil
		})
	}
	_ = all.Wait()
	maps.DeleteFunc(queues, func(_ string, f facts) bool { return errors.Is(f.err, sources.ErrNoSuchQueue) }) // deleted since it was listed
}

func (s *Source) readOne(ctx context.Context, f *facts, all bool) {
	s.read(ctx, f)
	if all && f.err == nil {
		s.readFeeds(ctx, f)
	}
	if len(f.feeds) > 0 { // only a queue that SQS itself feeds can have a move task
		s.readMove(ctx, f)
	}
}

func (i *inventory) snapshot() map[string]facts {
	i.mu.Lock()
	defer i.mu.Unlock()
	return maps.Clone(i.queues)
}

// one is what is known of one queue.
func (i *inventory) one(name string) (f facts, listed bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f, listed = i.queues[name]
	return f, listed
}

func (i *inventory) replace(queues map[string]facts, names map[string]bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.queues, i.names = queues, names
}

// exists tells whether there is a queue of that name, selected or not.
func (i *inventory) exists(name string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.names[name]
}

// asksMoves tells whether move tasks are worth asking for.
func (i *inventory) asksMoves(now time.Time) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return !now.Before(i.movesAt)
}

// noMoves puts off asking for move tasks.
func (i *inventory) noMoves(now time.Time) {
	const forNow = 10 * time.Minute
	i.mu.Lock()
	defer i.mu.Unlock()
	i.movesAt = now.Add(forNow)
}

// queue is what is known of a queue, and whether it holds dead letters. One
// that was not heard of yet is looked for.
func (s *Source) queue(ctx context.Context, name string) (f facts, deadLetters bool, err error) {
	all := s.inventory.snapshot()
	f, known := all[name]
	if !known {
		if err := s.refresh(ctx); err != nil {
			return facts{}, false, err
		}
		all = s.inventory.snapshot()
		if f, known = all[name]; !known {
			return facts{}, false, fmt.Errorf("%s: %w", name, sources.ErrNoSuchQueue)
		}
	}
	if f.arn == "" && f.err != nil {
		return facts{}, false, f.err
	}
	return f, s.isDeadLetters(name, feedsOf(all)[name]), nil
}
