-- What came of letters that were sent.

-- When the letters of a shipment had arrived, and whether somebody has read all
-- of them, or nobody can tell.
ALTER TABLE shipments ADD COLUMN sent_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE shipments ADD COLUMN followed BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX shipments_followed ON shipments (source, target_queue, number) WHERE state = 'settled' AND NOT followed;

-- How long a letter usually takes to come back, and until when those of a
-- redrive are waited for; 0 while that is not known.
ALTER TABLE redrives ADD COLUMN return_us BIGINT NOT NULL DEFAULT 0;
ALTER TABLE redrives ADD COLUMN return_why TEXT NOT NULL DEFAULT '';
ALTER TABLE redrives ADD COLUMN follow_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE redrives ADD COLUMN followed BOOLEAN NOT NULL DEFAULT FALSE; -- its verdict is final
CREATE INDEX redrives_followed ON redrives (follow_until) WHERE NOT followed;
ALTER TABLE redrives ADD COLUMN incident TEXT NOT NULL DEFAULT ''; -- at a record that it sent

ALTER TABLE queues ADD COLUMN gives_up_us BIGINT NOT NULL DEFAULT 0; -- how long a message takes at most to be dead

-- Where the head record of a stall lies, to be found by the letters that it
-- became and by the redrives that sent it; topic '' while it is not known.
ALTER TABLE incidents ADD COLUMN head_topic TEXT NOT NULL DEFAULT '';
ALTER TABLE incidents ADD COLUMN head_partition BIGINT NOT NULL DEFAULT 0;
ALTER TABLE incidents ADD COLUMN head_offset BIGINT NOT NULL DEFAULT -1;
CREATE INDEX incidents_by_head ON incidents (head_topic, head_partition, head_offset) WHERE head_offset >= 0;
ALTER TABLE redrives ADD COLUMN edited BOOLEAN NOT NULL DEFAULT FALSE; -- its letters were not sent as they are
