ALTER TABLE operations DROP COLUMN attempts;
ALTER TABLE operations DROP COLUMN request;
