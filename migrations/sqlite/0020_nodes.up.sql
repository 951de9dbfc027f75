-- The servers of the database, of which only those stay whose heartbeat is recent. What a server holds names its start. Operators see
-- its name, its address and its version.
CREATE TABLE nodes (
    boot       TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    address    TEXT NOT NULL,
    version    TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL
) STRICT;

ALTER TABLE tool_leases ADD COLUMN boot TEXT;
ALTER TABLE builds ADD COLUMN boot TEXT;

-- Runs to cancel, for the server that has them.
CREATE TABLE cancellations (
    invocation   TEXT PRIMARY KEY,
    organization TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    requested_at INTEGER NOT NULL
) STRICT;

-- A value made from the master key, in one row, by which another key is recognised.
CREATE TABLE master_key (
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    key_check BLOB NOT NULL
) STRICT;
