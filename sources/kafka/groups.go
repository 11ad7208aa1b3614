package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

// group is what one reading finds out about a group.
type group struct {
	name         string
	protocol     sources.Protocol
	typed        bool // the broker said which protocol; before Kafka 3.8 none does (KIP-848)
	state        string
	coordinator  int32
	members      []sources.Member
	membersKnown bool
	commits      map[sources.TopicPartition]commit
	shares       map[sources.TopicPartition]share
	err          error
	missing      bool // no broker lists it
}

// idle groups have no members, so their describe is not asked for. Brokers
// before 2.6 (KIP-518) list no states.
func (g *group) idle() bool { return g.state == "Empty" || g.state == "Dead" }

func (g *group) fail(err error) { g.err = errors.Join(g.err, err) }

// memory is what a reading keeps for the next one. It never holds more than
// the groups and topics of one reading.
type memory struct {
	known  map[string]known
	shares map[string]shareMemory
}

// known is a group of the last reading, so that one whose coordinator cannot
// be asked goes on being listed.
type known struct {
	protocol    sources.Protocol
	coordinator int32
	missing     bool // no broker listed it, for the first time
}

// reading is one reading of every group in the making.
type reading struct {
	*round
	mu     sync.Mutex
	groups map[string]*group
	failed map[int32]error // brokers whose groups could not be listed, or not all

	nextShares map[string]shareMemory // what the next reading will know of share groups
}

// listGroups asks every broker for the groups that it coordinates. That tells
// the coordinators too: none has to be looked up, and one that moved is found
// at its new broker by the next reading.
func (r *reading) listGroups(ctx context.Context) error {
	brokers := r.c.brokerIDs()
	each(brokers, func(broker int32) {
		resp, err := askIn[*kmsg.ListGroupsResponse](ctx, r.round, broker, kmsg.NewPtrListGroupsRequest())
		r.mu.Lock()
		defer r.mu.Unlock()
		if err == nil {
			err = code(resp.ErrorCode)
			r.take(broker, resp)
		}
		if err != nil {
			r.failed[broker] = err
		}
	})
	if len(r.failed) == len(brokers) {
		return fmt.Errorf("list the groups: %w", r.failed[brokers[0]])
	}
	r.keepUnlisted(ctx)
	return nil
}

func (r *reading) take(broker int32, resp *kmsg.ListGroupsResponse) {
	for _, l := range resp.Groups {
		if !r.s.cfg.Groups.Match(l.Group) {
			continue
		}
		r.groups[l.Group] = &group{
			name: l.Group, protocol: protocolOf(l.GroupType), typed: l.GroupType != "",
			state: l.GroupState, coordinator: broker,
		}
	}
}

func protocolOf(groupType string) sources.Protocol {
	switch p := sources.Protocol(groupType); p {
	case sources.Consumer, sources.Share, sources.Streams:
		return p
	}
	return sources.Classic
}

// keepUnlisted lists groups of the last reading that nobody lists now, where
// that does not show that they are gone: a broker could not be asked (it may
// be theirs, coordinators move), theirs is not in the cluster any more and no
// other took its place, or it is the first time, because between two
// coordinators a group is at neither.
func (r *reading) keepUnlisted(ctx context.Context) {
	var orphans []string
	for name, k := range r.s.before.known {
		if r.groups[name] != nil {
			continue
		}
		if len(r.failed) > 0 {
			broker := slices.Min(slices.Collect(maps.Keys(r.failed)))
			r.keep(name, fmt.Errorf("group %s: its coordinator may be broker %d, which did not list its groups: %w", name, broker, r.failed[broker]))
			continue
		}
		if _, there := r.c.brokers[k.coordinator]; !there {
			orphans = append(orphans, name)
		}
		if !k.missing {
			r.keep(name, fmt.Errorf("group %s: %w", name, errMissing))
			r.groups[name].missing = true
		}
	}
	if len(orphans) == 0 {
		return
	}
	slices.Sort(orphans)
	for name, err := range r.lostCoordinators(ctx, orphans) {
		r.keep(name, fmt.Errorf("group %s has no coordinator: %w", name, err))
	}
}

// errMissing is a group that was there and is not listed any more: the next
// reading tells whether it is gone.
var errMissing = errors.New("no broker lists it: it was deleted, or its coordinator is moving")

func (r *reading) keep(name string, err error) {
	k := r.s.before.known[name]
	r.groups[name] = &group{name: name, protocol: k.protocol, coordinator: k.coordinator, typed: true, err: err}
}

// lostCoordinators tells which of the groups have no coordinator at all. It is
// one request for any number of groups (KIP-699).
func (r *reading) lostCoordinators(ctx context.Context, groups []string) map[string]error {
	out := map[string]error{}
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey, req.CoordinatorKeys = groups[0], groups
	resp, err := req.RequestWith(ctx, r.s.client)
	if err != nil {
		err = r.s.readable(err)
		for _, g := range groups {
			out[g] = err
		}
		return out
	}
	if resp.Version < 4 {
		if err := code(resp.ErrorCode); err != nil {
			out[groups[0]] = err // the only one that such a broker was asked for
		}
		return out
	}
	for _, c := range resp.Coordinators {
		if err := code(c.ErrorCode); err != nil {
			out[c.Key] = err
		}
	}
	return out
}

// of gives the groups of a broker that a question is to be asked for, by name.
func (r *reading) of(broker int32, which func(*group) bool) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for name, g := range r.groups {
		if g.coordinator == broker && g.err == nil && which(g) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// change lets a response write to a group; a group that was not asked for is
// passed over.
func (r *reading) change(name string, write func(*group)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if g := r.groups[name]; g != nil {
		write(g)
	}
}

func (r *reading) failAll(names []string, err error) {
	for _, name := range names {
		r.change(name, func(g *group) { g.fail(err) })
	}
}
