package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/unwedge/unwedge/alerts"
)

// saveToll writes down what an incident costs by now.
func saveToll(ctx context.Context, tx *sql.Tx, incident string, t alerts.Toll) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE incidents SET toll = ? WHERE id = ?`, string(text), incident)
	return err
}

// readToll reads what saveToll wrote. Incidents from before it was counted have
// none.
func readToll(text []byte) (t alerts.Toll, err error) {
	if len(text) == 0 {
		return t, nil
	}
	err = json.Unmarshal(text, &t)
	return t, err
}
