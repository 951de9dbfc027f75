-- Work that outlives its request.

-- What an idempotency key stands for, and what a client may ask about later. A row knows which runs or which build came of it and has no
-- copy of their results. It goes when its time is over, and the history stays.
CREATE TABLE operations (
    organization    TEXT NOT NULL REFERENCES organizations,
    operation       TEXT NOT NULL,
    account         TEXT NOT NULL,
    kind            TEXT NOT NULL CHECK (kind IN ('invoke', 'publish')),
    tool            TEXT NOT NULL,
    idempotency_key TEXT,
    fingerprint     BLOB,
    state           TEXT NOT NULL CHECK (state IN ('running', 'succeeded', 'failed', 'interrupted')),
    status          INTEGER,
    refusal         BLOB,
    build           TEXT,
    -- What another server needs to continue a publication whose server is gone: the body of its request, the commit at the tip of the
    -- branch, and how many servers began it.
    request         BLOB,
    commit_id       TEXT,
    attempts        INTEGER NOT NULL DEFAULT 1,
    boot            TEXT NOT NULL,
    started_at      INTEGER NOT NULL,
    finished_at     INTEGER,
    expires_at      INTEGER NOT NULL,
    PRIMARY KEY (organization, operation)
) STRICT;

CREATE UNIQUE INDEX operations_by_key ON operations (organization, account, idempotency_key)
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

-- Finds the operations of a run that is deleted.
CREATE INDEX operation_runs_by_run ON operation_runs (invocation);

-- Attempts of calls whose questions were answered, until the questions expire. A question is answered once.
CREATE TABLE answered_attempts (
    invocation TEXT NOT NULL PRIMARY KEY,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX answered_attempts_by_expiry ON answered_attempts (expires_at);
