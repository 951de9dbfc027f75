-- When the requests of a user for an operation are restored, in microseconds. Servers that share a database count together.
CREATE TABLE rate_limits (
    name        TEXT PRIMARY KEY,
    restored_at INTEGER NOT NULL
) STRICT;

CREATE INDEX rate_limits_by_time ON rate_limits (restored_at);
