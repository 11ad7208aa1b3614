-- What the ledger needs to be fast.

-- How many items of a redrive are in each state, kept in the transactions that
-- change them, so that nothing counts a million rows.
CREATE TABLE item_counts (
	redrive INTEGER NOT NULL REFERENCES redrives (number),
	state   TEXT NOT NULL,
	items   BIGINT NOT NULL,
	PRIMARY KEY (redrive, state)
);
INSERT INTO item_counts (redrive, state, items) SELECT redrive, state, COUNT(*) FROM items GROUP BY redrive, state;

-- A letter is held by one item at most, for ever, unless that one did not send
-- it. The letter stands in a column of its own, so that a change of state that
-- frees no letter touches no index.
ALTER TABLE items ADD COLUMN holds BIGINT;
UPDATE items SET holds = letter WHERE state NOT IN ('failed', 'cancelled');
DROP INDEX items_once;
CREATE UNIQUE INDEX items_hold ON items (holds) WHERE holds IS NOT NULL;

-- The order of the items of a redrive, and those of them that are few or are
-- looked for.
DROP INDEX items_by_redrive;
CREATE INDEX items_by_redrive ON items (redrive, number);
CREATE INDEX items_planned ON items (redrive, number) WHERE state = 'planned';
CREATE INDEX items_wrong ON items (redrive, state, number) WHERE state IN ('failed', 'unknown', 'returned', 'cancelled');
DROP INDEX items_by_shipment;
CREATE INDEX items_by_letter ON items (letter);

-- Whether the letters of a shipment stay in their queue when they were sent, so
-- that nothing is left to be done at the source.
ALTER TABLE shipments ADD COLUMN stays BOOLEAN NOT NULL DEFAULT FALSE;

-- Whether the adapter finds out by itself if an earlier copy arrived.
ALTER TABLE shipments ADD COLUMN traceable BOOLEAN NOT NULL DEFAULT FALSE;
