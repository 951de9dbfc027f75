-- When the requests of a user for an operation are restored, in microseconds. Servers that share a database count together.
-- A crash of the database forgets a minute of requests.
CREATE UNLOGGED TABLE rate_limits (
    name        TEXT COLLATE "C" PRIMARY KEY,
    restored_at BIGINT NOT NULL
);

CREATE INDEX rate_limits_by_time ON rate_limits (restored_at);
