-- Organisations, their users, and what users sign in with. Times are milliseconds since 1970 and flags are 0 or 1, in every table. Texts
-- compare by their bytes, as in SQLite.

-- The data key of an organisation is sealed with the master key.
CREATE TABLE organizations (
    organization   TEXT COLLATE "C" PRIMARY KEY,
    data_key_id    TEXT COLLATE "C" NOT NULL,
    data_key       BYTEA NOT NULL,
    -- Whether secrets are removed from responses to callers. What is stored never has them.
    redact_answers BIGINT NOT NULL DEFAULT 1,
    -- Users and keys that were ever created. Each gets its number as its sequence, which is given once: the token of a page whose rows
    -- are gone still leads behind them.
    users_made     BIGINT NOT NULL DEFAULT 0,
    keys_made      BIGINT NOT NULL DEFAULT 0,
    -- Changes of tools and agents. What a server has of them in memory is right as long as the number is the same.
    tool_changes   BIGINT NOT NULL DEFAULT 0,
    created_at     BIGINT NOT NULL
);

-- One row with a value made from the master key, by which another key is recognised.
CREATE TABLE master_key (
    id        BIGINT PRIMARY KEY CHECK (id = 1),
    key_check BYTEA NOT NULL
);

-- Roles of an organisation, besides those that are built in.
CREATE TABLE roles (
    organization TEXT COLLATE "C" NOT NULL REFERENCES organizations,
    name         TEXT COLLATE "C" NOT NULL,
    grants       TEXT COLLATE "C" NOT NULL,
    administers  BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (organization, name)
);

-- An account is the id of a user that is never given again: rows that belong to a user have it. The id that people use is free again when
-- the user is removed: rows that only tell people who did something have that one.
CREATE TABLE members (
    organization TEXT COLLATE "C" NOT NULL REFERENCES organizations,
    account      TEXT COLLATE "C" NOT NULL,
    user_id      TEXT COLLATE "C" NOT NULL,
    role         TEXT COLLATE "C" NOT NULL,
    sequence     BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (organization, account),
    UNIQUE (organization, user_id)
);

CREATE INDEX members_by_role ON members (organization, role);
-- Pages of lists follow the sequence, whatever the clock did.
CREATE UNIQUE INDEX members_by_sequence ON members (organization, sequence);

CREATE TABLE api_keys (
    api_key_id   TEXT COLLATE "C" PRIMARY KEY,
    organization TEXT COLLATE "C" NOT NULL,
    account      TEXT COLLATE "C" NOT NULL,
    sequence     BIGINT NOT NULL,
    name         TEXT COLLATE "C",
    key_hash     BYTEA NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    last_used_at BIGINT,
    revoked_at   BIGINT,
    FOREIGN KEY (organization, account) REFERENCES members
);

CREATE UNIQUE INDEX api_keys_by_sequence ON api_keys (organization, sequence);
CREATE INDEX api_keys_by_user ON api_keys (organization, account);

CREATE TABLE tokens (
    token_hash   BYTEA PRIMARY KEY,
    organization TEXT COLLATE "C" NOT NULL,
    account      TEXT COLLATE "C" NOT NULL,
    api_key_id   TEXT COLLATE "C" NOT NULL REFERENCES api_keys,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    FOREIGN KEY (organization, account) REFERENCES members
);

CREATE INDEX tokens_by_expiry ON tokens (expires_at);
CREATE INDEX tokens_by_user ON tokens (organization, account);
-- A new token of a key that has too many replaces the oldest one.
CREATE INDEX tokens_by_key ON tokens (api_key_id, created_at);

-- Variables of users, which their runs receive. All values are sealed.
CREATE TABLE user_variables (
    organization TEXT COLLATE "C" NOT NULL,
    account      TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    is_sensitive BIGINT NOT NULL CHECK (is_sensitive IN (0, 1)),
    sealed       BYTEA NOT NULL,
    key_id       TEXT COLLATE "C" NOT NULL,
    updated_by   TEXT COLLATE "C" NOT NULL,
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (organization, account, name),
    FOREIGN KEY (organization, account) REFERENCES members ON DELETE CASCADE
);
