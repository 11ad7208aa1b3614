-- An incident may have more turns than page, acknowledgement and end: updates,
-- and pages again after somebody closed it in the pager while it still stood. The
-- end keeps the last place in its lane; the others take the next free one.

UPDATE outbox SET step = 1000000000 WHERE event = 'resolve';

-- Which key the page went with, as a fingerprint: only with that key can it be
-- ended. And when a silence that held an event back was over.
ALTER TABLE outbox ADD COLUMN key_print TEXT NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN silent_until BIGINT NOT NULL DEFAULT 0;

-- When somebody closed it in the pager by hand, and what the pager calls what was
-- closed, so that it is not taken for closed twice.
ALTER TABLE incidents ADD COLUMN closed_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE incidents ADD COLUMN closed_ref TEXT NOT NULL DEFAULT '';
