-- What a plan remembers of its world, and of what it was made of.

ALTER TABLE plans ADD COLUMN refused BIGINT NOT NULL DEFAULT 0; -- letters that cannot be sent
ALTER TABLE plans ADD COLUMN targets TEXT NOT NULL DEFAULT '[]'; -- JSON
ALTER TABLE plans ADD COLUMN chosen_by TEXT NOT NULL DEFAULT ''; -- JSON of the filter that chose its letters; '' for none
ALTER TABLE plans ADD COLUMN last_letter BIGINT NOT NULL DEFAULT 0; -- number of the last one that had come

-- The letters of a plan by their numbers, in the order in which they are sent:
-- what plan_letters says of each is written behind them, once it is decided.
CREATE TABLE plan_order (
	plan   TEXT NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
	place  BIGINT NOT NULL,
	letter BIGINT NOT NULL,
	PRIMARY KEY (plan, place)
);
DELETE FROM plans WHERE id NOT IN (SELECT plan FROM redrives WHERE plan IS NOT NULL); -- they have no such order
CREATE INDEX plan_letters_refused ON plan_letters (plan, place) WHERE refused <> '';
