-- The servers of the database, and what they tell each other.

-- Only servers with a recent heartbeat stay. What a server holds names its start. Operators see its name, its address and its version.
CREATE TABLE nodes (
    boot       TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    address    TEXT NOT NULL,
    version    TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL
) STRICT;

-- Runs to cancel, for the server that has them.
CREATE TABLE cancellations (
    invocation   TEXT PRIMARY KEY,
    organization TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    requested_at INTEGER NOT NULL
) STRICT;

-- When the requests of a user for an operation are restored, in microseconds. Servers that share a database count together.
CREATE TABLE rate_limits (
    name        TEXT PRIMARY KEY,
    restored_at INTEGER NOT NULL
) STRICT;

CREATE INDEX rate_limits_by_time ON rate_limits (restored_at);
