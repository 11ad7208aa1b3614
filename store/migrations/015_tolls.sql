-- What an incident costs: how long it stood, how many records waited. And by
-- what its report finds the letters that were made of its records, and what was
-- done about them.

ALTER TABLE incidents ADD COLUMN toll TEXT NOT NULL DEFAULT ''; -- JSON of alerts.Toll

CREATE INDEX letters_by_origin ON letters (origin_queue, origin_partition, origin_offset) WHERE origin_offset IS NOT NULL;
CREATE INDEX audit_by_subject ON audit (subject, number);
