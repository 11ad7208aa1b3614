-- Letters, the queues that they lie in, the causes that they share, and the
-- ledger of redrives: the state of package review.
--
-- Times are microseconds since 1970, 0 for none. A number is handed out by the
-- table counters in the transaction that uses it, so that the same text works
-- on Postgres.

CREATE TABLE counters (
	name  TEXT PRIMARY KEY,
	value BIGINT NOT NULL
);
INSERT INTO counters (name, value) VALUES
	('queues', 0), ('causes', 0), ('letters', 0), ('redrives', 0), ('items', 0), ('shipments', 0), ('audit', 0),
	('indexed', 0); -- letters up to this number can be found by their words

CREATE TABLE settings (
	name  TEXT PRIMARY KEY,
	value TEXT NOT NULL
);

CREATE TABLE queues (
	number         INTEGER PRIMARY KEY,
	source         TEXT NOT NULL,
	name           TEXT NOT NULL,
	kind           TEXT NOT NULL,
	broker_id      TEXT NOT NULL,
	partitions     BIGINT NOT NULL,
	messages       BIGINT NOT NULL,
	exact          BOOLEAN NOT NULL,
	retention_us   BIGINT NOT NULL,
	feeds_from     TEXT NOT NULL, -- JSON list of names
	redrive_to     TEXT NOT NULL,
	redriving      TEXT NOT NULL,
	read_at        BIGINT NOT NULL,
	error          TEXT NOT NULL, -- of the last look at the queue itself
	scan_error     TEXT NOT NULL, -- of the last look at its letters
	scanned_at     BIGINT NOT NULL,
	older          BIGINT NOT NULL,
	note           TEXT NOT NULL,
	read_from      BYTEA,         -- the adapter's cursor
	listed         BOOLEAN NOT NULL, -- false once the broker has it no more
	UNIQUE (source, name)
);

CREATE TABLE causes (
	number     INTEGER PRIMARY KEY,
	id         TEXT NOT NULL UNIQUE,
	title      TEXT NOT NULL,
	why        TEXT NOT NULL,
	first_seen BIGINT NOT NULL,
	last_seen  BIGINT NOT NULL
);

CREATE TABLE cause_origins (
	cause  INTEGER NOT NULL REFERENCES causes (number),
	origin TEXT NOT NULL,
	PRIMARY KEY (cause, origin)
);

-- What lists and counts need of a letter. Its bytes are in payloads, so that
-- these rows stay small.
CREATE TABLE letters (
	number           INTEGER PRIMARY KEY, -- in the order of arrival
	id               TEXT NOT NULL UNIQUE,
	queue            INTEGER NOT NULL,
	cause            INTEGER NOT NULL,
	status           TEXT NOT NULL,
	listed_at        BIGINT NOT NULL, -- when it died, else when it was found: the order of lists; never changes
	found_at         BIGINT NOT NULL,
	died_week        BIGINT NOT NULL, -- as in tallies
	found_week       BIGINT NOT NULL,
	expires_week     BIGINT NOT NULL,
	outcome          TEXT NOT NULL,
	returned_from    TEXT NOT NULL,
	returns          BIGINT NOT NULL, -- how many lives it had before this one
	topic_id         TEXT NOT NULL,
	line             BIGINT NOT NULL, -- partition
	place            BIGINT NOT NULL, -- offset
	message_id       TEXT NOT NULL,
	recorded_at      BIGINT NOT NULL,
	dead_at          BIGINT NOT NULL,
	failed_at        BIGINT NOT NULL,
	expires_at       BIGINT NOT NULL,
	expiry_is        TEXT NOT NULL,
	origin_queue     TEXT NOT NULL,
	origin_partition BIGINT,
	origin_offset    BIGINT,
	origin_group     TEXT NOT NULL,
	origin_at        BIGINT NOT NULL,
	reason_class     TEXT NOT NULL,
	reason_root      TEXT NOT NULL,
	reason_message   TEXT NOT NULL,
	reason_code      TEXT NOT NULL,
	attempts         BIGINT,
	looks            BIGINT NOT NULL, -- how many receives were our own
	convention       TEXT NOT NULL,
	redrive_to       TEXT NOT NULL,
	not_original     BOOLEAN NOT NULL,
	body_size        BIGINT NOT NULL -- -1 for null
);
CREATE INDEX letters_by_status ON letters (status, listed_at);
CREATE INDEX letters_by_queue ON letters (queue, status, listed_at);
CREATE INDEX letters_by_cause ON letters (cause, status, listed_at);
CREATE INDEX letters_by_expiry ON letters (cause, status, expires_at);
CREATE INDEX letters_by_return ON letters (returned_from) WHERE returned_from <> '';

-- The bytes of a letter. A row that is gone is a body that was forgotten.
CREATE TABLE payloads (
	letter        INTEGER PRIMARY KEY,
	key           BYTEA,
	original_key  BYTEA,
	body          BYTEA, -- the whole of it, or the beginning of one in large_bodies
	headers       BYTEA NOT NULL,
	system        BYTEA NOT NULL,
	error_headers BYTEA NOT NULL,
	inferred      BYTEA NOT NULL,
	earlier       TEXT NOT NULL, -- JSON: origins of earlier hops; '' for none
	stack         TEXT NOT NULL
);

-- Bodies that would make every list that has them slow.
CREATE TABLE large_bodies (
	letter INTEGER PRIMARY KEY,
	body   BYTEA NOT NULL
);

-- How many letters there are of each kind, kept in the transactions that
-- change them, so that no page counts.
CREATE TABLE tallies (
	cause        INTEGER NOT NULL,
	queue        INTEGER NOT NULL,
	status       TEXT NOT NULL,
	died_week    BIGINT NOT NULL, -- when the review week began in which they died, as well as it is known
	found_week   BIGINT NOT NULL, -- and in which they were found
	expires_week BIGINT NOT NULL, -- when the review week begins in which they expire; 0: never, or not known
	letters      BIGINT NOT NULL,
	returned     BIGINT NOT NULL, -- of these, came back after a redrive
	PRIMARY KEY (cause, queue, status, died_week, found_week, expires_week)
);

CREATE TABLE findings (
	id       TEXT NOT NULL,
	source   TEXT NOT NULL,
	kind     TEXT NOT NULL,
	queue    TEXT NOT NULL,
	message  TEXT NOT NULL,
	advice   TEXT NOT NULL,
	evidence TEXT NOT NULL, -- JSON
	since    BIGINT NOT NULL,
	PRIMARY KEY (source, id)
);

CREATE TABLE plans (
	id         TEXT PRIMARY KEY,
	created_at BIGINT NOT NULL,
	finished   BOOLEAN NOT NULL,
	total      BIGINT NOT NULL,
	target     TEXT NOT NULL, -- the queue that was asked for; '' for each letter's own
	warnings   TEXT NOT NULL, -- JSON
	receivers  TEXT NOT NULL  -- JSON
);

CREATE TABLE plan_letters (
	plan             TEXT NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
	place            BIGINT NOT NULL,
	letter           TEXT NOT NULL,
	target_queue     TEXT, -- null: there is none
	target_partition BIGINT,
	target_topic_id  TEXT NOT NULL,
	why              TEXT NOT NULL,
	names            BYTEA NOT NULL, -- headers kept, dropped, added
	warnings         TEXT NOT NULL,  -- codes with spaces between
	refused          TEXT NOT NULL,
	PRIMARY KEY (plan, place)
);

CREATE TABLE redrives (
	number     INTEGER PRIMARY KEY,
	id         TEXT NOT NULL UNIQUE,
	plan       TEXT UNIQUE,
	state      TEXT NOT NULL,
	reason     TEXT NOT NULL,
	asked_by   TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	ended_at   BIGINT NOT NULL,
	total      BIGINT NOT NULL,
	rate       DOUBLE PRECISION NOT NULL,
	verdict    TEXT NOT NULL,
	trouble    TEXT NOT NULL -- why it does not get on just now
);
CREATE INDEX redrives_at_work ON redrives (state) WHERE ended_at = 0;

-- The ledger: one row for each letter of each redrive.
CREATE TABLE items (
	number            INTEGER PRIMARY KEY, -- in the order in which they are sent
	id                TEXT NOT NULL UNIQUE,
	redrive           INTEGER NOT NULL REFERENCES redrives (number),
	letter            INTEGER NOT NULL,
	source            TEXT NOT NULL,
	state             TEXT NOT NULL,
	status_before     TEXT NOT NULL, -- of the letter
	target_queue      TEXT NOT NULL,
	target_partition  BIGINT,
	target_topic_id   TEXT NOT NULL,
	names             BYTEA NOT NULL, -- of headers: kept, dropped, added
	shipment          INTEGER,
	receipt_partition BIGINT NOT NULL,
	receipt_offset    BIGINT NOT NULL,
	receipt_message   TEXT NOT NULL,
	came_back_as      TEXT NOT NULL, -- id of the letter that it came back as
	error             TEXT NOT NULL
);
-- A letter is in one redrive at most, for ever, unless that one did not send it.
CREATE UNIQUE INDEX items_once ON items (letter) WHERE state NOT IN ('failed', 'cancelled');
CREATE INDEX items_by_redrive ON items (redrive, state);
CREATE INDEX items_by_offset ON items (target_queue, receipt_partition, receipt_offset) WHERE receipt_offset >= 0;
CREATE INDEX items_by_message ON items (receipt_message) WHERE receipt_message <> '';
CREATE INDEX items_by_shipment ON items (shipment) WHERE shipment IS NOT NULL;

-- What was packed to be sent in one request, written before it is sent.
CREATE TABLE shipments (
	number           INTEGER PRIMARY KEY,
	redrive          INTEGER NOT NULL REFERENCES redrives (number),
	source           TEXT NOT NULL,
	state            TEXT NOT NULL, -- sending, sent, settled
	target_queue     TEXT NOT NULL,
	target_partition BIGINT,
	target_topic_id  TEXT NOT NULL,
	items            BYTEA NOT NULL, -- ids, in the order in which they are sent
	data             BYTEA, -- null once it is settled
	repeat_until     BIGINT NOT NULL
);
CREATE INDEX shipments_out ON shipments (redrive, state) WHERE state <> 'settled';

CREATE TABLE audit (
	number  INTEGER PRIMARY KEY,
	at      BIGINT NOT NULL,
	who     TEXT NOT NULL,
	action  TEXT NOT NULL,
	subject TEXT NOT NULL,
	outcome TEXT NOT NULL
);

CREATE TABLE answers (
	who        TEXT NOT NULL,
	path       TEXT NOT NULL,
	key        TEXT NOT NULL,
	body_hash  TEXT NOT NULL,
	asked_at   BIGINT NOT NULL,
	status     BIGINT NOT NULL, -- 0: still running
	answer     BYTEA,
	PRIMARY KEY (who, path, key)
);
CREATE INDEX answers_by_age ON answers (asked_at);
