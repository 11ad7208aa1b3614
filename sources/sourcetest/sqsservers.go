package sourcetest

import (
	"testing"

	"github.com/unwedge/unwedge/sources/sqs/sqstest"
)

// SQSEndpoint is a server that speaks SQS, and what it does otherwise than AWS.
type SQSEndpoint struct {
	Name  string
	Start func(testing.TB) (endpoint string)
	// Differs has the checks of SQSProtocol that the server is known to fail, and
	// what it does instead.
	Differs map[string]string
	// TellsRetention, MovesTasks and PagesLists are what AWS does and not every
	// server.
	TellsRetention, MovesTasks, PagesLists bool
}

// SQSEndpoints are all servers that the SQS adapter is tested on: our own
// endpoint, and two real ones.
func SQSEndpoints() []SQSEndpoint {
	return []SQSEndpoint{
		{
			Name: "sqstest", TellsRetention: true, MovesTasks: true, PagesLists: true,
			Start: func(t testing.TB) string { return sqstest.New(sqstest.Options{}).Start(t) },
		},
		{
			Name: "ElasticMQ", Differs: elasticMQDiffers,
			Start: func(t testing.TB) string { return SharedElasticMQ(t).Endpoint },
		},
		{
			Name: "LocalStack", Differs: localStackDiffers, TellsRetention: true, MovesTasks: true, PagesLists: true,
			Start: func(t testing.TB) string { return SharedLocalStack(t).Endpoint },
		},
	}
}

var elasticMQDiffers = map[string]string{
	"attributes: retention":                  "it has none, and no largest message either",
	"receive: only the attributes asked for": "a request for some message attributes brings none",
	"list: pages":                            "it ignores MaxResults and gives all at once",
	"move: from a queue of no dead letters":  "it has no move tasks, and answers with a page that is no JSON",
	"move: start":                            sometimes + "it closes the connection, or answers with a page that is no JSON",
	"set: redrive allow policy":              "an unknown attribute to it",
	"batch: an empty one":                    "accepted",
}

var localStackDiffers = map[string]string{
	"move: begins a new life":                               "the moved message keeps its receive count and its origin",
	"limits: a redrive policy to a queue that is not there": "accepted",
}
