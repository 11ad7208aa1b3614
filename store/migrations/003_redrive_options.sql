-- How the letters of a plan, and of the redrive that it became, are sent.

ALTER TABLE plans ADD COLUMN options TEXT NOT NULL DEFAULT '{}'; -- JSON
ALTER TABLE plans ADD COLUMN not_known TEXT NOT NULL DEFAULT '[]'; -- JSON list of sentences
ALTER TABLE plan_letters ADD COLUMN because TEXT NOT NULL DEFAULT ''; -- why it is refused, in words
ALTER TABLE redrives ADD COLUMN options TEXT NOT NULL DEFAULT '{}'; -- JSON
