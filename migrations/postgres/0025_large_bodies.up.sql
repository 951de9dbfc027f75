-- A large body is an object of the storage. `object_digest` is the SHA-256 of its sealed bytes, and `sealed` is empty.
ALTER TABLE tape_bodies ADD COLUMN object_digest BYTEA;

CREATE INDEX tape_bodies_by_object ON tape_bodies (object_digest) WHERE object_digest IS NOT NULL;
