-- The servers of the database, and what they tell each other.

-- Only servers with a recent heartbeat stay. What a server holds names its start. Operators see its name, its address and its version.
CREATE TABLE nodes (
    boot       TEXT COLLATE "C" PRIMARY KEY,
    name       TEXT COLLATE "C" NOT NULL,
    address    TEXT COLLATE "C" NOT NULL,
    version    TEXT COLLATE "C" NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL
);

-- Runs to cancel, for the server that has them.
CREATE TABLE cancellations (
    invocation   TEXT COLLATE "C" PRIMARY KEY,
    organization TEXT COLLATE "C" NOT NULL,
    user_id      TEXT COLLATE "C" NOT NULL,
    requested_at BIGINT NOT NULL
);

-- When the requests of a user for an operation are restored, in microseconds. Servers that share a database count together. A crash of
-- the database forgets a minute of requests.
CREATE UNLOGGED TABLE rate_limits (
    name        TEXT COLLATE "C" PRIMARY KEY,
    restored_at BIGINT NOT NULL
);

CREATE INDEX rate_limits_by_time ON rate_limits (restored_at);
