-- Organisations with their sealed data keys, the users who act for them, and what users sign in with.

CREATE TABLE organizations (
    organization TEXT PRIMARY KEY,
    data_key_id  TEXT NOT NULL,
    data_key     BLOB NOT NULL,
    created_at   INTEGER NOT NULL
) STRICT;

CREATE TABLE members (
    organization TEXT NOT NULL REFERENCES organizations,
    user_id      TEXT NOT NULL,
    permissions  TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, user_id)
) STRICT;

CREATE TABLE api_keys (
    api_key_id   TEXT PRIMARY KEY,
    organization TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    key_hash     BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    revoked_at   INTEGER,
    FOREIGN KEY (organization, user_id) REFERENCES members
) STRICT;

CREATE TABLE tokens (
    token_hash   BLOB PRIMARY KEY,
    organization TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    api_key_id   TEXT NOT NULL REFERENCES api_keys,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    FOREIGN KEY (organization, user_id) REFERENCES members
) STRICT;

CREATE INDEX tokens_by_expiry ON tokens (expires_at);
