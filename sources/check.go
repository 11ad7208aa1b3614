package sources

// Outcome is what came of one thing that a check tried.
type Outcome string

// The outcomes of a check.
const (
	Confirmed   Outcome = "confirmed"
	Denied      Outcome = "missing"         // a permission or a queue that is needed is not there
	Unreachable Outcome = "unreachable"     // nobody answered
	Unconfirmed Outcome = "unconfirmed"     // it cannot be tried without writing
	Unmatched   Outcome = "matches nothing" // a configured pattern selects nothing that is there
)

// Checked is one thing that `dashboard check` tried, or could not try.
type Checked struct {
	What    string // "list the queues", "read orders.dlq"
	Right   string // the permission that it needs, in the broker's words: "sqs:ListQueues"
	Outcome Outcome
	Detail  string // why, or what to do; "" when there is nothing to say
}
