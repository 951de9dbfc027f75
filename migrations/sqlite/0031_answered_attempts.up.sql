-- Attempts of calls whose questions were answered, until the questions expire. A question is answered once.
CREATE TABLE answered_attempts (
    invocation TEXT NOT NULL PRIMARY KEY,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX answered_attempts_by_expiry ON answered_attempts (expires_at);
