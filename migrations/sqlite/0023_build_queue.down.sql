ALTER TABLE operations DROP COLUMN attempts;
ALTER TABLE operations DROP COLUMN commit_id;
ALTER TABLE operations DROP COLUMN request;
