-- The shelf is where a letter stands in lists: its status, but one for a letter
-- that is being redriven and one that was. The indexes have the shelf in place
-- of the status, so that none of them is written when a letter has been sent.
ALTER TABLE letters ADD COLUMN shelf TEXT NOT NULL DEFAULT '';
DROP INDEX letters_by_status;
DROP INDEX letters_by_queue;
DROP INDEX letters_by_cause;
DROP INDEX letters_by_expiry;
UPDATE letters SET shelf = CASE status WHEN 'redriving' THEN 'redriven' ELSE status END;
CREATE INDEX letters_by_shelf ON letters (shelf, listed_at);
CREATE INDEX letters_by_queue ON letters (queue, shelf, listed_at);
CREATE INDEX letters_by_cause ON letters (cause, shelf, listed_at);
CREATE INDEX letters_by_expiry ON letters (cause, shelf, expires_at);
