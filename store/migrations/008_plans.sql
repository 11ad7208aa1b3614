-- What a plan remembers of its world, and of what it was made of.

ALTER TABLE plans ADD COLUMN refused BIGINT NOT NULL DEFAULT 0; -- letters that cannot be sent
ALTER TABLE plans ADD COLUMN targets TEXT NOT NULL DEFAULT '[]'; -- JSON
ALTER TABLE plans ADD COLUMN chosen_by TEXT NOT NULL DEFAULT ''; -- JSON of the filter that chose its letters; '' for none
ALTER TABLE plans ADD COLUMN last_letter BIGINT NOT NULL DEFAULT 0; -- number of the last one that had come
CREATE INDEX plan_letters_refused ON plan_letters (plan, place) WHERE refused <> '';
