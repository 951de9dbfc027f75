-- Work that outlives its request: what an idempotency key stands for, and what a client may ask about later. A row
-- knows which runs or which build came of it and has no copy of what they answered. It goes when its time is over;
-- the history stays.

CREATE TABLE operations (
    organization    TEXT NOT NULL REFERENCES organizations,
    operation       TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    kind            TEXT NOT NULL CHECK (kind IN ('invoke', 'publish')),
    tool            TEXT NOT NULL,
    idempotency_key TEXT,
    fingerprint     BLOB,
    state           TEXT NOT NULL CHECK (state IN ('running', 'succeeded', 'failed', 'interrupted')),
    status          INTEGER,
    refusal         BLOB,
    build           TEXT,
    boot            TEXT NOT NULL,
    started_at      INTEGER NOT NULL,
    finished_at     INTEGER,
    expires_at      INTEGER NOT NULL,
    PRIMARY KEY (organization, operation)
) STRICT;

CREATE UNIQUE INDEX operations_by_key ON operations (organization, user_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX operations_by_expiry ON operations (expires_at);
CREATE INDEX operations_running ON operations (boot) WHERE state = 'running';

-- The runs of an operation, in the order of the call's inputs.
CREATE TABLE operation_runs (
    organization TEXT NOT NULL,
    operation    TEXT NOT NULL,
    input_index  INTEGER NOT NULL,
    invocation   TEXT NOT NULL REFERENCES inv_started,
    PRIMARY KEY (organization, operation, input_index),
    FOREIGN KEY (organization, operation) REFERENCES operations ON DELETE CASCADE
) STRICT;

-- How a version's number came about. Versions of before do not know it any more.
ALTER TABLE versions ADD COLUMN bump TEXT;
