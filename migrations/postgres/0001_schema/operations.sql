-- Work that outlives its request.

-- What an idempotency key stands for, and what a client may ask about later. A row knows which runs or which build came of it and has no
-- copy of their results. It goes when its time is over, and the history stays.
CREATE TABLE operations (
    organization    TEXT COLLATE "C" NOT NULL REFERENCES organizations,
    operation       TEXT COLLATE "C" NOT NULL,
    account         TEXT COLLATE "C" NOT NULL,
    kind            TEXT COLLATE "C" NOT NULL CHECK (kind IN ('invoke', 'publish')),
    tool            TEXT COLLATE "C" NOT NULL,
    idempotency_key TEXT COLLATE "C",
    fingerprint     BYTEA,
    state           TEXT COLLATE "C" NOT NULL CHECK (state IN ('running', 'succeeded', 'failed', 'interrupted')),
    status          BIGINT,
    refusal         BYTEA,
    build           TEXT COLLATE "C",
    -- What another server needs to continue a publication whose server is gone: the body of its request, the commit at the tip of the
    -- branch, and how many servers began it.
    request         BYTEA,
    commit_id       TEXT COLLATE "C",
    attempts        BIGINT NOT NULL DEFAULT 1,
    boot            TEXT COLLATE "C" NOT NULL,
    started_at      BIGINT NOT NULL,
    finished_at     BIGINT,
    expires_at      BIGINT NOT NULL,
    PRIMARY KEY (organization, operation)
);

CREATE UNIQUE INDEX operations_by_key ON operations (organization, account, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX operations_by_expiry ON operations (expires_at);
CREATE INDEX operations_running ON operations (boot) WHERE state = 'running';

-- The runs of an operation, in the order of the call's inputs.
CREATE TABLE operation_runs (
    organization TEXT COLLATE "C" NOT NULL,
    operation    TEXT COLLATE "C" NOT NULL,
    input_index  BIGINT NOT NULL,
    invocation   TEXT COLLATE "C" NOT NULL REFERENCES inv_started,
    PRIMARY KEY (organization, operation, input_index),
    FOREIGN KEY (organization, operation) REFERENCES operations ON DELETE CASCADE
);

-- Finds the operations of a run that is deleted.
CREATE INDEX operation_runs_by_run ON operation_runs (invocation);

-- Attempts of calls whose questions were answered, until the questions expire. A question is answered once.
CREATE TABLE answered_attempts (
    invocation TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL
);

CREATE INDEX answered_attempts_by_expiry ON answered_attempts (expires_at);
