-- How many users and keys an organisation ever had: a position is given once, so that the token of a page whose rows
-- are gone still leads behind them.

ALTER TABLE organizations ADD COLUMN users_made INTEGER NOT NULL DEFAULT 0;
ALTER TABLE organizations ADD COLUMN keys_made INTEGER NOT NULL DEFAULT 0;

UPDATE organizations SET
    users_made = (SELECT coalesce(max(sequence), 0) FROM members m WHERE m.organization = organizations.organization),
    keys_made = (SELECT coalesce(max(sequence), 0) FROM api_keys k WHERE k.organization = organizations.organization);

-- The oldest token of a key makes room for the newest.
DROP INDEX tokens_by_key;
CREATE INDEX tokens_by_key ON tokens (api_key_id, created_at);
