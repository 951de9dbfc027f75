-- Who called: the API key, and the address at the other end of the connection. Runs of earlier releases have neither.

ALTER TABLE inv_started ADD COLUMN api_key_id TEXT;
ALTER TABLE inv_started ADD COLUMN caller_address TEXT;

-- The account of a user: an id that is never given again, made of the user id and the position of the user. Rows that belong to a user have
-- it. The id that people use is free again when the user is removed: rows that only tell people who did something have that one.
ALTER TABLE tokens RENAME TO old_tokens;
ALTER TABLE api_keys RENAME TO old_api_keys;
ALTER TABLE members RENAME TO old_members;

CREATE TABLE members (
    organization TEXT NOT NULL REFERENCES organizations,
    account      TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    role         TEXT NOT NULL DEFAULT '',
    sequence     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (organization, account),
    UNIQUE (organization, user_id)
) STRICT;
INSERT INTO members (organization, account, user_id, created_at, role, sequence)
    SELECT organization, user_id || '#' || sequence, user_id, created_at, role, sequence FROM old_members;

CREATE TABLE api_keys (
    api_key_id   TEXT PRIMARY KEY,
    organization TEXT NOT NULL,
    account      TEXT NOT NULL,
    key_hash     BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    revoked_at   INTEGER,
    name         TEXT,
    expires_at   INTEGER,
    last_used_at INTEGER,
    sequence     INTEGER NOT NULL DEFAULT 0,
    FOREIGN KEY (organization, account) REFERENCES members
) STRICT;
INSERT INTO api_keys (api_key_id, organization, account, key_hash, created_at, revoked_at, name, expires_at, last_used_at, sequence)
    SELECT k.api_key_id, k.organization, m.account, k.key_hash, k.created_at, k.revoked_at, k.name, k.expires_at, k.last_used_at, k.sequence
    FROM old_api_keys k JOIN members m ON m.organization = k.organization AND m.user_id = k.user_id;

CREATE TABLE tokens (
    token_hash   BLOB PRIMARY KEY,
    organization TEXT NOT NULL,
    account      TEXT NOT NULL,
    api_key_id   TEXT NOT NULL REFERENCES api_keys,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    FOREIGN KEY (organization, account) REFERENCES members
) STRICT;
INSERT INTO tokens (token_hash, organization, account, api_key_id, created_at, expires_at)
    SELECT t.token_hash, t.organization, m.account, t.api_key_id, t.created_at, t.expires_at
    FROM old_tokens t JOIN members m ON m.organization = t.organization AND m.user_id = t.user_id;

DROP TABLE old_tokens;
DROP TABLE old_api_keys;
DROP TABLE old_members;

CREATE INDEX members_by_role ON members (organization, role);
CREATE UNIQUE INDEX members_by_sequence ON members (organization, sequence);
CREATE UNIQUE INDEX api_keys_by_sequence ON api_keys (organization, sequence);
CREATE INDEX api_keys_by_user ON api_keys (organization, account);
CREATE INDEX tokens_by_expiry ON tokens (expires_at);
CREATE INDEX tokens_by_user ON tokens (organization, account);
CREATE INDEX tokens_by_key ON tokens (api_key_id, created_at);

-- The position 0 is nobody's: the user was removed.
ALTER TABLE operations RENAME COLUMN user_id TO account;
UPDATE operations SET account = account || '#' || coalesce((SELECT m.sequence FROM members m
    WHERE m.organization = operations.organization AND m.user_id = operations.account), 0);
