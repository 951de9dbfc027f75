DROP INDEX tokens_by_key;
CREATE INDEX tokens_by_key ON tokens (api_key_id);

ALTER TABLE organizations DROP COLUMN keys_made;
ALTER TABLE organizations DROP COLUMN users_made;
