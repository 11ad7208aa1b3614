package web

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// right is what somebody needs to be allowed to use a route. Nothing asks for
// it yet: whoever reaches the loopback address is an admin. It stands in the
// table so that access control can be added without a second one, and so that
// a route without a right cannot be written down.
type right string

// The rights, each with what the one before it may.
const (
	anyone   right = "anyone"   // no sign-in: probes and the style sheet
	signed   right = "signed"   // no sign-in: the message proves itself by its signature, also from a foreign origin
	viewer   right = "viewer"   // lag, counts, causes, incidents, findings
	reader   right = "reader"   // bodies, keys and headers of letters
	operator right = "operator" // redrives, discards, acknowledging, silences, park and skip
	admin    right = "admin"    // the audit
)

// route is one line of the route table.
type route struct {
	method string
	path   string // in echo's notation, without the base path
	needs  right
	handle func(*Server, echo.Context) error
	// long is set for answers that go on as long as the browser listens: no
	// time budget holds for them.
	long bool
	// edits is set where a body may bring an edit, and be larger than others.
	edits bool
	// plans is set where a plan is made or checked again: of a million letters it
	// takes minutes.
	plans bool
}

func (r route) mostBody() int64 {
	if r.edits {
		return mostEditBody
	}
	return mostBody
}

// budget is how long a request may take.
func (r route) budget() time.Duration {
	if r.plans {
		return planBudget
	}
	return budget
}

// pagerDutyPath is where PagerDuty's webhooks arrive, each under the name of its
// notifier.
const pagerDutyPath = "/api/v1/pagerduty/"

// routes is the one route table: everything that the dashboard serves of its
// own. Every GET answers HEAD as well.
var routes = []route{
	{method: http.MethodGet, path: "/", needs: viewer, handle: (*Server).showNow},
	{method: http.MethodGet, path: "/lag", needs: viewer, handle: (*Server).showLag},
	{method: http.MethodGet, path: "/review", needs: viewer, handle: (*Server).showReview},
	{method: http.MethodGet, path: "/causes/:id", needs: viewer, handle: (*Server).showCause},
	{method: http.MethodGet, path: "/causes/:id/edit", needs: operator, handle: (*Server).showEditMany},
	{method: http.MethodPost, path: "/causes/:id/edit", needs: operator, handle: (*Server).doEditMany, edits: true, plans: true},
	{method: http.MethodGet, path: "/letters/:id", needs: reader, handle: (*Server).showLetter},
	{method: http.MethodGet, path: "/letters/:id/edit", needs: operator, handle: (*Server).showEdit},
	{method: http.MethodPost, path: "/letters/:id/edit", needs: operator, handle: (*Server).doEdit, edits: true, plans: true},
	{method: http.MethodGet, path: "/redrives", needs: viewer, handle: (*Server).showRedrives},
	{method: http.MethodPost, path: "/redrives", needs: operator, handle: (*Server).doRedrive, plans: true},
	{method: http.MethodPost, path: "/redrives/plans", needs: operator, handle: (*Server).doPlan, plans: true},
	{method: http.MethodGet, path: "/redrives/plans/:plan", needs: reader, handle: (*Server).showPlan},
	{method: http.MethodGet, path: "/redrives/:id", needs: viewer, handle: (*Server).showRedrive},
	{method: http.MethodPost, path: "/redrives/:id", needs: operator, handle: (*Server).doOrder},
	{method: http.MethodPost, path: "/redrives/items/:id/settle", needs: operator, handle: (*Server).doSettle},
	{method: http.MethodGet, path: "/discards", needs: viewer, handle: (*Server).showDiscards},
	{method: http.MethodPost, path: "/discards", needs: operator, handle: (*Server).doDraft},
	{method: http.MethodGet, path: "/discards/:id", needs: reader, handle: (*Server).showDiscard},
	{method: http.MethodPost, path: "/discards/:id", needs: operator, handle: (*Server).doDiscard},
	{method: http.MethodGet, path: "/audit", needs: admin, handle: (*Server).showAudit},
	{method: http.MethodGet, path: "/incidents", needs: viewer, handle: (*Server).showIncidents},
	{method: http.MethodGet, path: "/incidents/:id", needs: viewer, handle: (*Server).showIncident},
	{method: http.MethodPost, path: "/incidents/:id", needs: operator, handle: (*Server).doAcknowledge},
	{method: http.MethodGet, path: "/silences", needs: viewer, handle: (*Server).showSilences},
	{method: http.MethodPost, path: "/silences", needs: operator, handle: (*Server).doSilence},
	{method: http.MethodPost, path: "/silences/:id", needs: operator, handle: (*Server).doEndSilence},
	{method: http.MethodGet, path: "/notifiers", needs: viewer, handle: (*Server).showNotifiers},
	{method: http.MethodPost, path: "/notifiers/:name/test", needs: operator, handle: (*Server).doTest},
	{method: http.MethodGet, path: "/skips", needs: viewer, handle: (*Server).showSkips},
	{method: http.MethodPost, path: "/skips", needs: operator, handle: (*Server).doSkip},
	{method: http.MethodGet, path: "/skips/new", needs: operator, handle: (*Server).showNewSkip},
	{method: http.MethodGet, path: "/skips/:id", needs: reader, handle: (*Server).showSkip},
	{method: http.MethodPost, path: "/skips/:id", needs: operator, handle: (*Server).doSkipOrder},
	{method: http.MethodGet, path: "/queues", needs: viewer, handle: (*Server).showQueues},
	{method: http.MethodGet, path: "/static/:version/:name", needs: anyone, handle: (*Server).showStatic},

	{method: http.MethodGet, path: "/healthz", needs: anyone, handle: (*Server).showHealth},
	{method: http.MethodGet, path: "/readyz", needs: anyone, handle: (*Server).showReady},
	{method: http.MethodGet, path: "/metrics", needs: viewer, handle: (*Server).showMetrics},

	{method: http.MethodGet, path: "/api/v1/openapi.json", needs: viewer, handle: (*Server).showOpenAPI},
	{method: http.MethodGet, path: "/api/v1/events", needs: viewer, handle: (*Server).showEvents, long: true},
	{method: http.MethodGet, path: "/api/v1/lag", needs: viewer, handle: (*Server).showLagJSON},
	{method: http.MethodGet, path: "/api/v1/lag/history", needs: viewer, handle: (*Server).showHistory},
	{method: http.MethodGet, path: "/api/v1/queues", needs: viewer, handle: (*Server).showQueuesJSON},
	{method: http.MethodGet, path: "/api/v1/findings", needs: viewer, handle: (*Server).showFindingsJSON},
	{method: http.MethodGet, path: "/api/v1/causes", needs: viewer, handle: (*Server).showCausesJSON},
	{method: http.MethodGet, path: "/api/v1/incidents", needs: viewer, handle: (*Server).showIncidentsJSON},
	{method: http.MethodGet, path: "/api/v1/incidents/:id", needs: viewer, handle: (*Server).showIncidentJSON},
	{method: http.MethodGet, path: "/api/v1/incidents/:id/report", needs: viewer, handle: (*Server).showReport},
	{method: http.MethodPost, path: "/api/v1/incidents/:id/acknowledge", needs: operator, handle: (*Server).doAcknowledgeJSON},
	{method: http.MethodGet, path: "/api/v1/silences", needs: viewer, handle: (*Server).showSilencesJSON},
	{method: http.MethodPost, path: "/api/v1/silences", needs: operator, handle: (*Server).doSilenceJSON},
	{method: http.MethodDelete, path: "/api/v1/silences/:id", needs: operator, handle: (*Server).doEndSilenceJSON},
	{method: http.MethodGet, path: "/api/v1/skips", needs: viewer, handle: (*Server).showSkipsJSON},
	{method: http.MethodPost, path: "/api/v1/skips", needs: operator, handle: (*Server).doSkipJSON},
	{method: http.MethodGet, path: "/api/v1/skips/:id", needs: viewer, handle: (*Server).showSkipJSON},
	{method: http.MethodPost, path: "/api/v1/skips/:id/disarm", needs: operator, handle: (*Server).doDisarmJSON},
	{method: http.MethodPost, path: "/api/v1/skips/:id/undo", needs: operator, handle: (*Server).doUndoSkipJSON},
	{method: http.MethodPost, path: "/api/v1/notifiers/:name/test", needs: operator, handle: (*Server).doTestJSON},
	{method: http.MethodPost, path: pagerDutyPath + ":name", needs: signed, handle: (*Server).doHear},
	{method: http.MethodGet, path: "/api/v1/dead-letters", needs: reader, handle: (*Server).showLettersJSON},
	{method: http.MethodGet, path: "/api/v1/dead-letters/:id", needs: reader, handle: (*Server).showLetterJSON},
	{method: http.MethodGet, path: "/api/v1/dead-letters/:id/value", needs: reader, handle: (*Server).showLetterValue},
	{method: http.MethodGet, path: "/api/v1/dead-letters/:id/key", needs: reader, handle: (*Server).showLetterKey},
	{method: http.MethodGet, path: "/api/v1/redrives", needs: viewer, handle: (*Server).showRedrivesJSON},
	{method: http.MethodPost, path: "/api/v1/redrives", needs: operator, handle: (*Server).doRedriveJSON, edits: true, plans: true},
	{method: http.MethodGet, path: "/api/v1/redrives/plans/:plan", needs: viewer, handle: (*Server).showPlanJSON},
	{method: http.MethodGet, path: "/api/v1/redrives/plans/:plan/letters", needs: viewer, handle: (*Server).showPlanLettersJSON},
	{method: http.MethodGet, path: "/api/v1/redrives/:id", needs: viewer, handle: (*Server).showRedriveJSON},
	{method: http.MethodGet, path: "/api/v1/audit", needs: admin, handle: (*Server).showAuditJSON},
	{method: http.MethodPost, path: "/api/v1/discards", needs: operator, handle: (*Server).doDiscardJSON},
	{method: http.MethodGet, path: "/api/v1/discards/:id", needs: viewer, handle: (*Server).showDiscardJSON},
	{method: http.MethodPost, path: "/api/v1/discards/:id/undo", needs: operator, handle: (*Server).doUndoJSON},
	{method: http.MethodGet, path: "/api/v1/redrives/:id/items", needs: viewer, handle: (*Server).showItemsJSON},
	{method: http.MethodPost, path: "/api/v1/redrives/:id/pause", needs: operator, handle: (*Server).doPauseJSON},
	{method: http.MethodPost, path: "/api/v1/redrives/:id/resume", needs: operator, handle: (*Server).doResumeJSON},
	{method: http.MethodPost, path: "/api/v1/redrives/:id/cancel", needs: operator, handle: (*Server).doCancelJSON},
	{method: http.MethodPost, path: "/api/v1/redrives/:id/rate", needs: operator, handle: (*Server).doRateJSON},
	{method: http.MethodPost, path: "/api/v1/redrives/items/:id/settle", needs: operator, handle: (*Server).doSettleJSON},
}
