-- The servers of the database, of which only those stay whose heartbeat is recent. What a server holds names its start. Operators see
-- its name, its address and its version.
CREATE TABLE nodes (
    boot       TEXT COLLATE "C" PRIMARY KEY,
    name       TEXT COLLATE "C" NOT NULL,
    address    TEXT COLLATE "C" NOT NULL,
    version    TEXT COLLATE "C" NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL
);

ALTER TABLE tool_leases ADD COLUMN boot TEXT COLLATE "C";
ALTER TABLE builds ADD COLUMN boot TEXT COLLATE "C";

-- Runs to cancel, for the server that has them.
CREATE TABLE cancellations (
    invocation   TEXT COLLATE "C" PRIMARY KEY,
    organization TEXT COLLATE "C" NOT NULL,
    user_id      TEXT COLLATE "C" NOT NULL,
    requested_at BIGINT NOT NULL
);

-- A value made from the master key, in one row, by which another key is recognised.
CREATE TABLE master_key (
    id        BIGINT PRIMARY KEY CHECK (id = 1),
    key_check BYTEA NOT NULL
);
