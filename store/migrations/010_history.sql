-- What the lag loop has read, some readings of a group together.

CREATE TABLE history (
	source     TEXT NOT NULL,
	group_name TEXT NOT NULL,
	begins_at  BIGINT NOT NULL,
	ends_at    BIGINT NOT NULL,
	protocol   TEXT NOT NULL,
	packed     BYTEA NOT NULL, -- zstd of JSON lines, as dashboard replay reads them
	PRIMARY KEY (source, group_name, begins_at)
);
CREATE INDEX history_old ON history (ends_at);
