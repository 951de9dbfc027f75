-- Roles beside those that are built in, a role for every user, and what is known of a key besides its hash.

CREATE TABLE roles (
    organization TEXT NOT NULL REFERENCES organizations,
    name         TEXT NOT NULL,
    grants       TEXT NOT NULL,
    administers  INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, name)
) STRICT;

-- Until now every user had every permission.
ALTER TABLE members ADD COLUMN role TEXT NOT NULL DEFAULT '';
UPDATE members SET role = 'admin';
ALTER TABLE members DROP COLUMN permissions;
CREATE INDEX members_by_role ON members (organization, role);

-- The order in which they came, which pages of lists follow whatever the clock did.
ALTER TABLE members ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;
UPDATE members SET sequence = rowid;
CREATE UNIQUE INDEX members_by_sequence ON members (organization, sequence);

ALTER TABLE api_keys ADD COLUMN name TEXT;
ALTER TABLE api_keys ADD COLUMN expires_at INTEGER;
ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER;
ALTER TABLE api_keys ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;
UPDATE api_keys SET sequence = rowid;
CREATE UNIQUE INDEX api_keys_by_sequence ON api_keys (organization, sequence);
CREATE INDEX api_keys_by_user ON api_keys (organization, user_id);

CREATE INDEX tokens_by_key ON tokens (api_key_id);
CREATE INDEX tokens_by_user ON tokens (organization, user_id);
