-- Letters that will not be processed, and what is still to be taken off its queue.

INSERT INTO counters (name, value) VALUES ('discards', 0), ('discard_items', 0);

CREATE TABLE discards (
	number     INTEGER PRIMARY KEY,
	id         TEXT NOT NULL UNIQUE,
	reason     TEXT NOT NULL,
	asked_by   TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	decided_at BIGINT NOT NULL, -- 0: it is a draft, whose letters are only listed
	undo_until BIGINT NOT NULL,
	undone_at  BIGINT NOT NULL, -- 0: it was not
	undone_by  TEXT NOT NULL,
	total      BIGINT NOT NULL
);

CREATE TABLE discard_items (
	number        INTEGER PRIMARY KEY,
	id            TEXT NOT NULL UNIQUE,
	discard       INTEGER NOT NULL REFERENCES discards (number) ON DELETE CASCADE,
	letter        INTEGER NOT NULL,
	state         TEXT NOT NULL, -- discarded, failed, undone; planned in a draft
	status_before TEXT NOT NULL, -- of the letter
	error         TEXT NOT NULL
);
CREATE INDEX discard_items_in_order ON discard_items (discard, number);
CREATE INDEX discard_items_by_letter ON discard_items (letter);

-- Letters that are to be taken off their SQS queue: discarded ones when that
-- cannot be undone any more, and those that a person says were sent.
CREATE TABLE removals (
	letter   INTEGER PRIMARY KEY,
	why      TEXT NOT NULL, -- discard, settled
	due_at   BIGINT NOT NULL, -- not before
	begun_at BIGINT NOT NULL, -- 0: it can still be called off
	done_at  BIGINT NOT NULL, -- 0: it still lies there
	tries    BIGINT NOT NULL,
	error    TEXT NOT NULL    -- of the last try
);
CREATE INDEX removals_due ON removals (due_at) WHERE done_at = 0;
