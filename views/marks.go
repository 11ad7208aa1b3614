package views

// mark is a word of the API as people see it: a glyph first, then a hue.
type mark struct {
	word  string
	glyph string
	hue   Hue
}

// marks has every verdict, badge, state and status. A word that is not in it
// is shown as it is, quietly.
var marks = map[string]mark{
	"ok":                 {"OK", "v-ok", Fine},
	"slow":               {"Slow", "v-slow", Risk},
	"head_of_line_stall": {"Head-of-line stall", "v-head_of_line_stall", Stuck},
	"group_stall":        {"Group stall", "v-group_stall", Stuck},
	"stopped":            {"Stopped", "v-stopped", Stuck},
	"data_loss":          {"Data loss", "v-data_loss", Stuck},
	"unassigned":         {"Unassigned", "v-unassigned", Risk},
	"open_transaction":   {"Open transaction", "v-open_transaction", Risk},
	"orphaned":           {"Orphaned", "v-orphaned", Quiet},
	"rewind":             {"Rewind", "v-rewind", Quiet},
	"unknown":            {"Unknown", "v-unknown", NotKnown},
	"dead_letter_burst":  {"Burst of dead letters", "b-growing", Stuck},
	"stuck":              {"Stuck", "v-head_of_line_stall", Stuck},
	"at_risk":            {"At risk", "v-slow", Risk},
	"new":                {"new", "b-new", Accent},
	"growing":            {"growing", "b-growing", Risk},
	"back":               {"back", "b-back", Stuck},
	"known":              {"known", "b-known", Quiet},
	"expiring":           {"expiring", "i-clock", Risk},
	"planned":            {"Not sent", "s-waiting", Quiet},
	"sending":            {"Sending", "s-sending", Quiet},
	"sent":               {"Sent, not settled yet", "s-sending", Accent},
	"confirmed":          {"Confirmed", "s-confirmed", Accent},
	"consumed":           {"Consumed", "b-known", Fine},
	"returned":           {"Came back", "b-back", Stuck},
	"failed":             {"Failed", "s-failed", Stuck},
	"refused":            {"Refused", "s-failed", Stuck},
	"cancelled":          {"Cancelled", "s-cancelled", Quiet},
	"running":            {"Running", "s-sending", Accent},
	"waiting":            {"Waiting", "i-clock", Risk},
	"paused":             {"Paused", "s-paused", Risk},
	"done":               {"Done", "b-known", Fine},
	"armed":              {"Armed", "i-clock", Risk},
	"disarmed":           {"Disarmed", "s-cancelled", Quiet},
	"undone":             {"Undone", "s-cancelled", Quiet},
	"open":               {"Open", "s-waiting", Quiet},
	"snoozed":            {"Snoozed", "i-clock", Quiet},
	"redriving":          {"Redriving", "s-sending", Accent},
	"redriven":           {"Redriven", "s-confirmed", Accent},
	"discarded":          {"Discarded", "s-cancelled", Quiet},
	"expired":            {"Expired", "i-clock", Risk},
	"resolved":           {"Resolved", "b-known", Fine},
	"fresh":              {"Fresh", "v-ok", Fine},
	"on_time":            {"On time", "v-ok", Fine},
	"late":               {"Late", "v-slow", Risk},
	"down":               {"No answer", "v-unknown", NotKnown},
	"never":              {"Not read yet", "v-unknown", NotKnown},
	"trigger":            {"Page", "i-bell", Stuck},
	"acknowledge":        {"Acknowledged", "i-tick", Accent},
	"resolve":            {"End", "b-known", Fine},
	"bell":               {"", "i-bell", Stuck},
	"clock":              {"", "i-clock", Quiet},
	"review":             {"", "i-review", Accent},
	"redrive":            {"", "i-redrive", Accent},
	"tick":               {"", "i-tick", Accent},
}

func markOf(name string) mark {
	if m, ok := marks[name]; ok {
		return m
	}
	return mark{Visible(name), "s-waiting", Quiet}
}

// refusals says why a letter cannot be redriven, by code.
var refusals = map[string]string{
	"no_target":        "nothing says where it should go",
	"target_missing":   "its target is not there",
	"target_forbidden": "redrive_to does not allow its target",
	"not_the_original": "its body describes the record and is not the record itself",
	"payload_gone":     "its body is no longer kept",
	"too_large":        "it is larger than its target takes",
}

func refusal(code string) string {
	if words, ok := refusals[code]; ok {
		return words
	}
	return Visible(code)
}

// protocols says how the members of a group share its work.
var protocols = map[string]string{"classic": "classic", "consumer": "consumer", "share": "share group", "streams": "streams group"}

func protocol(p string) string {
	if words, ok := protocols[p]; ok {
		return words
	}
	return Visible(p)
}

// hueOf is a hue that may have been left out.
func hueOf(h Hue) string {
	if h == "" {
		return string(Quiet)
	}
	return Visible(string(h))
}
