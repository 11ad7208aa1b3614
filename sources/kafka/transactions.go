package kafka

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

// OpenTransactions tells of each partition which transaction is open there since
// longest: the one that holds its stable end. A partition without one is not in
// the answer. It asks the leaders for their producers, the brokers for the
// transactions of these, and the coordinators for the time-outs (KIP-664), and
// needs Read on the topics and Describe on the transactional ids: without the
// latter only the producer's number is known.
func (s *Source) OpenTransactions(ctx context.Context, partitions []sources.TopicPartition) (map[sources.TopicPartition]sources.Transaction, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*s.cfg.Timeout)
	defer cancel()
	open, err := s.openProducers(ctx, partitions)
	if err != nil || len(open) == 0 {
		return open, s.readable(err)
	}
	names, err := s.transactionsOf(ctx, open)
	if err != nil || len(names) == 0 {
		return open, s.readable(err)
	}
	return open, s.readable(s.describeTransactions(ctx, open, names))
}

// openProducers asks for the producer whose transaction began first in each
// partition.
func (s *Source) openProducers(ctx context.Context, partitions []sources.TopicPartition) (map[sources.TopicPartition]sources.Transaction, error) {
	byTopic := map[string][]int32{}
	for _, tp := range partitions {
		byTopic[tp.Topic] = append(byTopic[tp.Topic], tp.Partition)
	}
	req := kmsg.NewPtrDescribeProducersRequest()
	for topic, numbers := range byTopic {
		req.Topics = append(req.Topics, kmsg.DescribeProducersRequestTopic{Topic: topic, Partitions: numbers})
	}
	resp, err := req.RequestWith(ctx, s.client)
	if err != nil {
		return nil, fmt.Errorf("ask which producers hold %d partitions: %w", len(partitions), err)
	}
	open := map[sources.TopicPartition]sources.Transaction{}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 {
				err = fmt.Errorf("ask which producers hold partition %d of %s: %w", p.Partition, t.Topic, code(p.ErrorCode))
			}
			if first, ok := oldest(p.ActiveProducers); ok {
				open[sources.TopicPartition{Topic: t.Topic, Partition: p.Partition}] = sources.Transaction{ProducerID: first.ProducerID}
			}
		}
	}
	if len(open) > 0 {
		err = nil // what could not be asked for is not in the answer
	}
	return open, err
}

// oldest is the producer whose open transaction began at the lowest offset.
func oldest(all []kmsg.DescribeProducersResponseTopicPartitionActiveProducer) (kmsg.DescribeProducersResponseTopicPartitionActiveProducer, bool) {
	all = slices.DeleteFunc(slices.Clone(all), func(p kmsg.DescribeProducersResponseTopicPartitionActiveProducer) bool {
		return p.CurrentTxnStartOffset < 0
	})
	if len(all) == 0 {
		return kmsg.DescribeProducersResponseTopicPartitionActiveProducer{}, false
	}
	return slices.MinFunc(all, func(a, b kmsg.DescribeProducersResponseTopicPartitionActiveProducer) int {
		return int(min(1, max(-1, a.CurrentTxnStartOffset-b.CurrentTxnStartOffset)))
	}), true
}

// transactionsOf asks every broker for the transactional ids of producers. Those
// that we may not describe are left out by the broker.
func (s *Source) transactionsOf(ctx context.Context, open map[sources.TopicPartition]sources.Transaction) (names []string, err error) {
	req := kmsg.NewPtrListTransactionsRequest()
	for _, t := range open {
		req.ProducerIDFilters = append(req.ProducerIDFilters, t.ProducerID)
	}
	resp, err := req.RequestWith(ctx, s.client)
	if err == nil {
		err = code(resp.ErrorCode)
	}
	if err != nil {
		return nil, fmt.Errorf("list the transactions of %d producers: %w", len(req.ProducerIDFilters), err)
	}
	for _, t := range resp.TransactionStates {
		names = append(names, t.TransactionalID)
		for tp, is := range open {
			if is.ProducerID == t.ProducerID {
				is.ID = t.TransactionalID
				open[tp] = is
			}
		}
	}
	return names, nil
}

// describeTransactions fills in what the coordinators tell of transactions.
func (s *Source) describeTransactions(ctx context.Context, open map[sources.TopicPartition]sources.Transaction, names []string) error {
	req := kmsg.NewPtrDescribeTransactionsRequest()
	req.TransactionalIDs = names
	resp, err := req.RequestWith(ctx, s.client)
	if err != nil {
		return fmt.Errorf("describe %d transactions: %w", len(names), err)
	}
	for _, t := range resp.TransactionStates {
		for tp, is := range open {
			if is.ID != t.TransactionalID || t.ErrorCode != 0 {
				continue
			}
			is.Timeout = time.Duration(t.TimeoutMillis) * time.Millisecond
			if t.StartTimestamp > 0 {
				is.Since = time.UnixMilli(t.StartTimestamp).UTC()
			}
			open[tp] = is
		}
	}
	return nil
}
