-- Silences, and pages that they hold back.

INSERT INTO counters (name, value) VALUES ('silences', 0);

CREATE TABLE silences (
	number     INTEGER PRIMARY KEY,
	id         TEXT NOT NULL UNIQUE,
	source     TEXT NOT NULL, -- patterns
	group_name TEXT NOT NULL,
	topic      TEXT NOT NULL,
	reason     TEXT NOT NULL,
	set_by     TEXT NOT NULL,
	set_at     BIGINT NOT NULL,
	from_at    BIGINT NOT NULL,
	until_at   BIGINT NOT NULL,
	ended_at   BIGINT NOT NULL, -- by hand; 0: it runs out by itself
	ended_by   TEXT NOT NULL
);
CREATE INDEX silences_now ON silences (until_at) WHERE ended_at = 0;

-- Until when an event is held back, of those that are; its state stays pending.
-- An incident that ends while its page is held back tells nobody: its events are
-- muted.
ALTER TABLE outbox ADD COLUMN held_until BIGINT NOT NULL DEFAULT 0;
