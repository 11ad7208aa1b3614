package sqs

import "strings"

// breakGroup notes that a message of a FIFO group could not be sent: those
// behind it wait, also in other shipments, until letters are packed anew.
func (s *Source) breakGroup(target, group string, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stops[target+"\n"+group] == nil {
		s.stops[target+"\n"+group] = why
	}
}

// broken is why nothing more of a group is sent, nil when it is.
func (s *Source) broken(target, group string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stops[target+"\n"+group]
}

// forgetBroken has all groups of a target go on.
func (s *Source) forgetBroken(target string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.stops {
		if strings.HasPrefix(key, target+"\n") {
			delete(s.stops, key)
		}
	}
}

// doubt notes that an item was in a request to which the answer is open. The same
// request may be made again; without it the item may have arrived.
func (s *Source) doubt(item string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[item] = true
}

// decided notes that it is known what became of an item.
func (s *Source) decided(item string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, item)
}

// inDoubt tells whether an item may have arrived in an earlier request of this
// run.
func (s *Source) inDoubt(item string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[item]
}
