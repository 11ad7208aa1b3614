-- Park and skip. While one is armed no other of its line can be.

INSERT INTO counters (name, value) VALUES ('skips', 0);

CREATE TABLE skips (
	number     INTEGER PRIMARY KEY,
	id         TEXT NOT NULL UNIQUE,
	source     TEXT NOT NULL,
	group_name TEXT NOT NULL,
	topic      TEXT NOT NULL,
	line       BIGINT NOT NULL,
	state      TEXT NOT NULL,
	outcome    TEXT NOT NULL,
	from_at    BIGINT NOT NULL, -- offsets
	to_at      BIGINT NOT NULL,
	armed_at   BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	ended_at   BIGINT NOT NULL,
	to_start   BOOLEAN NOT NULL, -- workers that were stopped for it are to come back
	skip       TEXT NOT NULL -- JSON of skips.Skip, its records whole
);
CREATE UNIQUE INDEX skips_armed ON skips (source, group_name, topic, line) WHERE state = 'armed';
CREATE INDEX skips_unfinished ON skips (number) WHERE state = 'armed' OR state = 'done' AND outcome = '' OR to_start;
