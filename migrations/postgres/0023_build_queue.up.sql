-- What another server needs to carry a publication out when its own is gone: the body of its request, the commit that it found at the
-- tip of the branch, and how many servers began it.
ALTER TABLE operations ADD COLUMN request BYTEA;
ALTER TABLE operations ADD COLUMN commit_id TEXT COLLATE "C";
ALTER TABLE operations ADD COLUMN attempts BIGINT NOT NULL DEFAULT 1;
