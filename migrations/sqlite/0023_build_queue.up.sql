-- The body of a publication's request, with which another server carries the publication out when its own is gone, and how many
-- servers began it.
ALTER TABLE operations ADD COLUMN request BLOB;
ALTER TABLE operations ADD COLUMN attempts INTEGER NOT NULL DEFAULT 1;
