package sqstest

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
)

// mostListed is how many queues a list has at most.
const mostListed = 1000

func (s *Server) listQueues(req *request) (any, error) {
	return s.list(req, "QueueUrls", func(q *queue) bool { return strings.HasPrefix(q.name, req.QueueNamePrefix) })
}

func (s *Server) listSources(q *queue, req *request) (any, error) {
	arn := s.ARN(q.name)
	return s.list(req, "queueUrls", func(other *queue) bool { return other.redrivePolicy().target == arn })
}

// list answers one page of the queues that keep accepts. Who does not say how
// many are wanted gets the first thousand, and no token for the rest.
func (s *Server) list(req *request, field string, keep func(*queue) bool) (any, error) {
	most := mostListed
	if req.MaxResults != nil {
		most = *req.MaxResults
	}
	if most < 1 || most > mostListed {
		return nil, invalidf("Value %d for parameter MaxResults is invalid. Reason: MaxResults must be an integer between 1 and 1000.", most)
	}
	from, err := base64.StdEncoding.DecodeString(req.NextToken)
	if err != nil {
		return nil, apiErrorf(http.StatusBadRequest, "InvalidParameterValueException", "InvalidParameterValue", "Invalid or expired next token.")
	}
	var names []string
	for name, q := range s.queues {
		if name >= string(from) && keep(q) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	out := object{}
	if len(names) > most {
		if req.MaxResults != nil {
			out["NextToken"] = base64.StdEncoding.EncodeToString([]byte(names[most]))
		}
		names = names[:most]
	}
	urls := []string{}
	for _, name := range names {
		urls = append(urls, req.base+name)
	}
	out[field] = urls
	return out, nil
}
