package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/unwedge/unwedge/alerts"
)

const incidentColumns = `number, id, source, group_name, queue, verdict, scope, severity, owner, runbook, pages, already_so,
	title, reason, lines, notify, evidence, opened_at, updated_at, resolved_at, resolution, acknowledged_at, acknowledged_by, closed_at, toll`

// saveIncident inserts an incident under the next number, or updates what a
// reading can change of it: its number, and who took it, stay as they are.
func saveIncident(ctx context.Context, tx *sql.Tx, c alerts.Change) error {
	var number int64
	err := tx.QueryRowContext(ctx, `SELECT number FROM incidents WHERE id = ?`, c.ID).Scan(&number)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return insertIncident(ctx, tx, c.Incident)
	case err != nil:
		return err
	}
	lines, err := json.Marshal(c.Lines)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE incidents SET verdict = ?, scope = ?, severity = ?, owner = ?, runbook = ?, pages = ?, already_so = ?,
		title = ?, reason = ?, lines = ?, updated_at = ?, resolved_at = ?, resolution = ? WHERE number = ?`,
		c.Verdict, c.Scope, c.Severity, c.Owner, c.Runbook, c.Pages, c.AlreadySo,
		c.Title, c.Reason, string(lines), micros(c.UpdatedAt), micros(c.ResolvedAt), c.Resolution, number)
	if err != nil || !c.Evidence {
		return err
	}
	return saveEvidence(ctx, tx, number, c.Incident.Evidence)
}

// saveEvidence lays new evidence over what there is.
func saveEvidence(ctx context.Context, tx *sql.Tx, number int64, e alerts.Evidence) error {
	var text []byte
	if err := tx.QueryRowContext(ctx, `SELECT evidence FROM incidents WHERE number = ?`, number).Scan(&text); err != nil {
		return err
	}
	var old alerts.Evidence
	if err := json.Unmarshal(text, &old); err != nil {
		return err
	}
	text, err := json.Marshal(e.Keeping(old))
	if err != nil {
		return err
	}
	if _, err = tx.ExecContext(ctx, `UPDATE incidents SET evidence = ? WHERE number = ?`, string(text), number); err != nil {
		return err
	}
	return saveHead(ctx, tx, number, e)
}

func insertIncident(ctx context.Context, tx *sql.Tx, in alerts.Incident) error {
	number, err := numbers(ctx, tx, "incidents", 1)
	if err != nil {
		return err
	}
	lines, err1 := json.Marshal(in.Lines)
	notify, err2 := json.Marshal(in.Notify)
	evidence, err3 := json.Marshal(in.Evidence)
	toll, err4 := json.Marshal(in.Toll)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO incidents (`+incidentColumns+`) VALUES (`+marks(25)+`)`,
		number, in.ID, in.Source, in.Group, in.Queue, in.Verdict, in.Scope, in.Severity, in.Owner, in.Runbook, in.Pages, in.AlreadySo,
		in.Title, in.Reason, string(lines), string(notify), string(evidence), micros(in.OpenedAt), micros(in.UpdatedAt),
		micros(in.ResolvedAt), in.Resolution, micros(in.AcknowledgedAt), in.AcknowledgedBy, micros(in.ClosedAt), string(toll))
	if err != nil {
		return err
	}
	return saveHead(ctx, tx, number, in.Evidence)
}

// Incidents lists incidents, newest first, from a cursor on ("" is the newest),
// at most limit of them. next goes on from there; it is "" at the end. Others
// that come meanwhile shift nothing. A cursor of no list of ours is
// alerts.ErrCursor.
func (s *Store) Incidents(ctx context.Context, f alerts.IncidentFilter, limit int, cursor string) (list []alerts.Incident, next string, err error) {
	where, args, err := incidentWhere(f, cursor)
	if err != nil {
		return nil, "", err
	}
	list, err = s.incidents(ctx, where+` ORDER BY number DESC LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return nil, "", err
	}
	if len(list) > limit {
		list = list[:limit]
		next = makeCursor("incidents", list[limit-1].Number)
	}
	return list, next, nil
}

func incidentWhere(f alerts.IncidentFilter, cursor string) (string, []any, error) {
	where, args := []string{"1 = 1"}, []any{}
	switch f.Status {
	case alerts.Open:
		where = append(where, "resolved_at = 0")
	case alerts.Resolved:
		where = append(where, "resolved_at <> 0")
	}
	for _, in := range []struct {
		column string
		values []string
	}{{"source", f.Sources}, {"group_name", f.Groups}} {
		if len(in.values) == 0 {
			continue
		}
		one, values := inList(in.column, in.values)
		where, args = append(where, one), append(args, values...)
	}
	before, err := readCursor("incidents", cursor, 1)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", alerts.ErrCursor, err)
	}
	if len(before) > 0 {
		where, args = append(where, "number < ?"), append(args, before[0])
	}
	return strings.Join(where, " AND "), args, nil
}

// Incident is one incident with its deliveries, or alerts.ErrNotFound.
func (s *Store) Incident(ctx context.Context, id string) (alerts.Incident, error) {
	list, err := s.incidents(ctx, "id = ?", id)
	if err != nil {
		return alerts.Incident{}, err
	}
	if len(list) == 0 {
		return alerts.Incident{}, fmt.Errorf("incident %q: %w", id, alerts.ErrNotFound)
	}
	return list[0], nil
}

// OpenIncidents counts the open incidents by verdict.
func (s *Store) OpenIncidents(ctx context.Context) (map[alerts.Verdict]int, error) {
	counts := map[alerts.Verdict]int{}
	err := each(ctx, s.read, func(r *sql.Rows) error {
		var verdict alerts.Verdict
		var n int
		err := r.Scan(&verdict, &n)
		counts[verdict] = n
		return err
	}, `SELECT verdict, COUNT(*) FROM incidents WHERE resolved_at = 0 GROUP BY verdict`)
	if err != nil {
		return nil, fmt.Errorf("count the open incidents: %w", err)
	}
	return counts, nil
}

// SourceIncidents are the open incidents of a source itself.
func (s *Store) SourceIncidents(ctx context.Context, source string) ([]alerts.Incident, error) {
	list, err := queryIncidents(ctx, s.read, `resolved_at = 0 AND source = ? AND group_name = '' AND queue = '' ORDER BY number`, source)
	if err != nil {
		return nil, fmt.Errorf("read the open incidents of %s: %w", source, err)
	}
	return list, nil
}

// incidents reads incidents and their deliveries.
func (s *Store) incidents(ctx context.Context, where string, args ...any) ([]alerts.Incident, error) {
	list, err := queryIncidents(ctx, s.read, where, args...)
	if err == nil {
		err = addDeliveries(ctx, s.read, list)
	}
	if err != nil {
		return nil, fmt.Errorf("read incidents: %w", err)
	}
	return list, nil
}

func queryIncidents(ctx context.Context, q querier, where string, args ...any) ([]alerts.Incident, error) {
	var list []alerts.Incident
	err := each(ctx, q, func(r *sql.Rows) error {
		in, err := scanIncident(r)
		list = append(list, in)
		return err
	}, `SELECT `+incidentColumns+` FROM incidents WHERE `+where, args...)
	return list, err
}

func scanIncident(rows *sql.Rows) (alerts.Incident, error) {
	var in alerts.Incident
	var lines, notify, evidence, toll []byte
	var opened, updated, resolved, acknowledged, closed int64
	err := rows.Scan(&in.Number, &in.ID, &in.Source, &in.Group, &in.Queue, &in.Verdict, &in.Scope, &in.Severity, &in.Owner, &in.Runbook,
		&in.Pages, &in.AlreadySo, &in.Title, &in.Reason, &lines, &notify, &evidence, &opened, &updated, &resolved, &in.Resolution,
		&acknowledged, &in.AcknowledgedBy, &closed, &toll)
	if err != nil {
		return in, err
	}
	if in.Toll, err = readToll(toll); err != nil {
		return in, err
	}
	in.OpenedAt, in.UpdatedAt, in.ResolvedAt, in.AcknowledgedAt, in.ClosedAt = instant(opened), instant(updated), instant(resolved), instant(acknowledged), instant(closed)
	return in, errors.Join(json.Unmarshal(lines, &in.Lines), json.Unmarshal(notify, &in.Notify), json.Unmarshal(evidence, &in.Evidence))
}

// addDeliveries reads what became of the events of some incidents.
func addDeliveries(ctx context.Context, q querier, list []alerts.Incident) error {
	if len(list) == 0 {
		return nil
	}
	at, ids := map[string]*alerts.Incident{}, make([]string, len(list))
	for i := range list {
		at[list[i].ID], ids[i] = &list[i], list[i].ID
	}
	these, args := inList("incident", ids)
	return each(ctx, q, func(r *sql.Rows) error {
		var id string
		var d alerts.Delivery
		var accepted int64
		err := r.Scan(&id, &d.Notifier, &d.Event, &d.State, &accepted, &d.Attempts, &d.Err)
		if in := at[id]; in != nil {
			d.AcceptedAt = instant(accepted)
			in.Deliveries = append(in.Deliveries, d)
		}
		return err
	}, `SELECT incident, notifier, event, CASE WHEN state = 'muted' THEN 'needless' WHEN state = 'pending' AND held_until <> 0 AND held_until >= next_at THEN 'held' ELSE state END,
			accepted_at, attempts, error FROM outbox
		WHERE `+these+` ORDER BY step, written_at, notifier`, args...)
}
