-- Organisations, their users, and what users sign in with. Times are milliseconds since 1970 and flags are 0 or 1, in every table.

-- The data key of an organisation is sealed with the master key.
CREATE TABLE organizations (
    organization   TEXT PRIMARY KEY,
    data_key_id    TEXT NOT NULL,
    data_key       BLOB NOT NULL,
    -- Whether secrets are removed from responses to callers. What is stored never has them.
    redact_answers INTEGER NOT NULL DEFAULT 1,
    -- Users and keys that were ever created. Each gets its number as its sequence, which is given once: the token of a page whose rows
    -- are gone still leads behind them.
    users_made     INTEGER NOT NULL DEFAULT 0,
    keys_made      INTEGER NOT NULL DEFAULT 0,
    -- Changes of tools and agents. What a server has of them in memory is right as long as the number is the same.
    tool_changes   INTEGER NOT NULL DEFAULT 0,
    created_at     INTEGER NOT NULL
) STRICT;

-- One row with a value made from the master key, by which another key is recognised.
CREATE TABLE master_key (
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    key_check BLOB NOT NULL
) STRICT;

-- Roles of an organisation, besides those that are built in.
CREATE TABLE roles (
    organization TEXT NOT NULL REFERENCES organizations,
    name         TEXT NOT NULL,
    grants       TEXT NOT NULL,
    administers  INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, name)
) STRICT;

-- An account is the id of a user that is never given again: rows that belong to a user have it. The id that people use is free again when
-- the user is removed: rows that only tell people who did something have that one.
CREATE TABLE members (
    organization TEXT NOT NULL REFERENCES organizations,
    account      TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    role         TEXT NOT NULL,
    sequence     INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, account),
    UNIQUE (organization, user_id)
) STRICT;

CREATE INDEX members_by_role ON members (organization, role);
-- Pages of lists follow the sequence, whatever the clock did.
CREATE UNIQUE INDEX members_by_sequence ON members (organization, sequence);

CREATE TABLE api_keys (
    api_key_id   TEXT PRIMARY KEY,
    organization TEXT NOT NULL,
    account      TEXT NOT NULL,
    sequence     INTEGER NOT NULL,
    name         TEXT,
    key_hash     BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER,
    revoked_at   INTEGER,
    FOREIGN KEY (organization, account) REFERENCES members
) STRICT;

CREATE UNIQUE INDEX api_keys_by_sequence ON api_keys (organization, sequence);
CREATE INDEX api_keys_by_user ON api_keys (organization, account);

CREATE TABLE tokens (
    token_hash   BLOB PRIMARY KEY,
    organization TEXT NOT NULL,
    account      TEXT NOT NULL,
    api_key_id   TEXT NOT NULL REFERENCES api_keys,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    FOREIGN KEY (organization, account) REFERENCES members
) STRICT;

CREATE INDEX tokens_by_expiry ON tokens (expires_at);
CREATE INDEX tokens_by_user ON tokens (organization, account);
-- A new token of a key that has too many replaces the oldest one.
CREATE INDEX tokens_by_key ON tokens (api_key_id, created_at);

-- Variables of users, which their runs receive. All values are sealed.
CREATE TABLE user_variables (
    organization TEXT NOT NULL,
    account      TEXT NOT NULL,
    name         TEXT NOT NULL,
    is_sensitive INTEGER NOT NULL CHECK (is_sensitive IN (0, 1)),
    sealed       BLOB NOT NULL,
    key_id       TEXT NOT NULL,
    updated_by   TEXT NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, account, name),
    FOREIGN KEY (organization, account) REFERENCES members ON DELETE CASCADE
) STRICT;
