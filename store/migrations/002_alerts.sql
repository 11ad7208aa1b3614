-- What is remembered of each group, incidents, and the outbox of their events:
-- the state of package alerts. One reading of a source changes all three in one
-- transaction.

INSERT INTO counters (name, value) VALUES ('incidents', 0);

CREATE TABLE watches (
	source     TEXT NOT NULL,
	group_name TEXT NOT NULL,
	watch      TEXT NOT NULL, -- JSON of alerts.GroupWatch
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (source, group_name)
);

CREATE TABLE incidents (
	number          INTEGER PRIMARY KEY, -- for people, in the order of opening
	id              TEXT NOT NULL UNIQUE,
	source          TEXT NOT NULL,
	group_name      TEXT NOT NULL,
	queue           TEXT NOT NULL,
	verdict         TEXT NOT NULL,
	scope           TEXT NOT NULL,
	severity        TEXT NOT NULL,
	owner           TEXT NOT NULL,
	runbook         TEXT NOT NULL,
	pages           BOOLEAN NOT NULL,
	already_so      BOOLEAN NOT NULL,
	title           TEXT NOT NULL,
	reason          TEXT NOT NULL,
	lines           TEXT NOT NULL, -- JSON list of sources.Partition
	notify          TEXT NOT NULL, -- JSON list of names
	evidence        TEXT NOT NULL, -- JSON of alerts.Evidence, its records whole
	opened_at       BIGINT NOT NULL,
	updated_at      BIGINT NOT NULL,
	resolved_at     BIGINT NOT NULL,
	resolution      TEXT NOT NULL,
	acknowledged_at BIGINT NOT NULL,
	acknowledged_by TEXT NOT NULL
);
CREATE INDEX incidents_group ON incidents (group_name, number);
CREATE INDEX incidents_open ON incidents (number) WHERE resolved_at = 0;

-- One row for each event of an incident at one notifier; those of one incident
-- and notifier are a lane, sent in the order of step. An event is written once:
-- the key is what keeps a page from being sent a second time.
CREATE TABLE outbox (
	incident     TEXT NOT NULL REFERENCES incidents (id),
	notifier     TEXT NOT NULL,
	event        TEXT NOT NULL,   -- trigger, acknowledge, resolve
	step         BIGINT NOT NULL, -- 1, 2, 3
	state        TEXT NOT NULL,   -- pending, accepted, gave_up
	minimal      BOOLEAN NOT NULL, -- the whole was refused: send the least
	attempts     BIGINT NOT NULL,
	written_at   BIGINT NOT NULL,
	attempted_at BIGINT NOT NULL,
	next_at      BIGINT NOT NULL, -- of the next attempt, while pending
	accepted_at  BIGINT NOT NULL,
	error        TEXT NOT NULL,   -- of the last attempt
	PRIMARY KEY (incident, notifier, step)
);
CREATE INDEX outbox_pending ON outbox (notifier, next_at) WHERE state = 'pending';
