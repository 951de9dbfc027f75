UPDATE operations SET account = substr(account, 1, instr(account, '#') - 1);
ALTER TABLE operations RENAME COLUMN account TO user_id;

CREATE TABLE old_members (
    organization TEXT NOT NULL REFERENCES organizations,
    user_id      TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    role         TEXT NOT NULL DEFAULT '',
    sequence     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (organization, user_id)
) STRICT;
INSERT INTO old_members (organization, user_id, created_at, role, sequence)
    SELECT organization, user_id, created_at, role, sequence FROM members;

CREATE TABLE old_api_keys (
    api_key_id   TEXT PRIMARY KEY,
    organization TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    key_hash     BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    revoked_at   INTEGER,
    name         TEXT,
    expires_at   INTEGER,
    last_used_at INTEGER,
    sequence     INTEGER NOT NULL DEFAULT 0,
    FOREIGN KEY (organization, user_id) REFERENCES old_members
) STRICT;
INSERT INTO old_api_keys (api_key_id, organization, user_id, key_hash, created_at, revoked_at, name, expires_at, last_used_at, sequence)
    SELECT k.api_key_id, k.organization, m.user_id, k.key_hash, k.created_at, k.revoked_at, k.name, k.expires_at, k.last_used_at, k.sequence
    FROM api_keys k JOIN members m ON m.organization = k.organization AND m.account = k.account;

CREATE TABLE old_tokens (
    token_hash   BLOB PRIMARY KEY,
    organization TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    api_key_id   TEXT NOT NULL REFERENCES old_api_keys,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    FOREIGN KEY (organization, user_id) REFERENCES old_members
) STRICT;
INSERT INTO old_tokens (token_hash, organization, user_id, api_key_id, created_at, expires_at)
    SELECT t.token_hash, t.organization, m.user_id, t.api_key_id, t.created_at, t.expires_at
    FROM tokens t JOIN members m ON m.organization = t.organization AND m.account = t.account;

DROP TABLE tokens;
DROP TABLE api_keys;
DROP TABLE members;
ALTER TABLE old_members RENAME TO members;
ALTER TABLE old_api_keys RENAME TO api_keys;
ALTER TABLE old_tokens RENAME TO tokens;

CREATE INDEX members_by_role ON members (organization, role);
CREATE UNIQUE INDEX members_by_sequence ON members (organization, sequence);
CREATE UNIQUE INDEX api_keys_by_sequence ON api_keys (organization, sequence);
CREATE INDEX api_keys_by_user ON api_keys (organization, user_id);
CREATE INDEX tokens_by_expiry ON tokens (expires_at);
CREATE INDEX tokens_by_user ON tokens (organization, user_id);
CREATE INDEX tokens_by_key ON tokens (api_key_id, created_at);
ALTER TABLE inv_started DROP COLUMN caller_address;
ALTER TABLE inv_started DROP COLUMN api_key_id;
