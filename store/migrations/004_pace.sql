-- Pause, cancel and canaries: how far a redrive may go.

ALTER TABLE redrives ADD COLUMN cancelling BOOLEAN NOT NULL DEFAULT FALSE; -- nothing more is sent; it ends when what is out is settled
ALTER TABLE redrives ADD COLUMN caution TEXT NOT NULL DEFAULT '{}'; -- JSON of review.Caution
ALTER TABLE redrives ADD COLUMN at_work BOOLEAN NOT NULL DEFAULT FALSE; -- a run of the program works on it, or died when it did
ALTER TABLE redrives ADD COLUMN crashes BIGINT NOT NULL DEFAULT 0; -- in a row, of the program while it was at work
