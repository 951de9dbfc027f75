DROP INDEX tape_bodies_by_object;
ALTER TABLE tape_bodies DROP COLUMN object_digest;
