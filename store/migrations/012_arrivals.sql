-- When letters arrived in their queue, so that a burst can be told from the
-- first reading of an old queue. Letters of before this are of no burst.
ALTER TABLE letters ADD COLUMN arrived_at BIGINT NOT NULL DEFAULT 0; -- 0: it was there before we first looked
CREATE INDEX letters_by_arrival ON letters (queue, arrived_at) WHERE arrived_at > 0;
ALTER TABLE queues ADD COLUMN caught_up_at BIGINT NOT NULL DEFAULT 0; -- when we last had read it to its end; 0: never
ALTER TABLE causes ADD COLUMN added_at BIGINT NOT NULL DEFAULT 0; -- when its first letter was found
