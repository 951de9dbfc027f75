-- Runs of agents, and their requests to people.

-- A model that calls tools until it has its answer, or one call that a client does not wait for. The document is the checkpoint, from
-- which any server goes on.
CREATE TABLE agent_runs (
    organization    TEXT NOT NULL,
    agent_run       TEXT NOT NULL,
    agent           TEXT NOT NULL,
    account         TEXT NOT NULL,
    kind            TEXT NOT NULL CHECK (kind IN ('agent', 'call')),
    idempotency_key TEXT,
    fingerprint     BLOB,
    -- The task whose occurrence started the run. Null for other runs, and when the task has the end of its run.
    item            TEXT,
    objective       TEXT NOT NULL,
    state           TEXT NOT NULL CHECK (state IN ('running', 'paused', 'completed', 'failed', 'cancelled')),
    iterations      INTEGER NOT NULL,
    -- Servers that took the run over since its last checkpoint.
    attempts        INTEGER NOT NULL DEFAULT 0,
    boot            TEXT NOT NULL,
    revision        INTEGER NOT NULL,
    document        TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    ended_at        INTEGER,
    PRIMARY KEY (organization, agent_run),
    FOREIGN KEY (organization, agent) REFERENCES agents
) STRICT;

CREATE UNIQUE INDEX agent_runs_by_key ON agent_runs (organization, account, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX agent_runs_of_user ON agent_runs (organization, account, agent_run);
CREATE INDEX agent_runs_by_state ON agent_runs (organization, state, agent_run);
CREATE INDEX agent_runs_by_agent ON agent_runs (organization, agent, agent_run);
CREATE INDEX agent_runs_running ON agent_runs (updated_at) WHERE state = 'running';
CREATE INDEX agent_runs_ended ON agent_runs (ended_at) WHERE ended_at IS NOT NULL;
-- Finds the runs whose end their task does not have yet.
CREATE INDEX agent_runs_of_items ON agent_runs (state) WHERE item IS NOT NULL;

-- What the model did in each step, and what came of it.
CREATE TABLE agent_run_steps (
    organization TEXT NOT NULL,
    agent_run    TEXT NOT NULL,
    number       INTEGER NOT NULL,
    milestone    TEXT,
    document     TEXT NOT NULL,
    at           INTEGER NOT NULL,
    PRIMARY KEY (organization, agent_run, number),
    FOREIGN KEY (organization, agent_run) REFERENCES agent_runs
) STRICT;

-- Requests of paused runs to people. A run has at most one open request.
CREATE TABLE human_requests (
    organization  TEXT NOT NULL,
    human_request TEXT NOT NULL,
    agent_run     TEXT NOT NULL,
    kind          TEXT NOT NULL CHECK (kind IN ('question', 'approval', 'form')),
    urgency       TEXT NOT NULL CHECK (urgency IN ('low', 'medium', 'high')),
    state         TEXT NOT NULL CHECK (state IN ('open', 'answered', 'expired', 'cancelled')),
    document      TEXT NOT NULL,
    response      TEXT,
    answered_by   TEXT,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL,
    closed_at     INTEGER,
    PRIMARY KEY (organization, human_request),
    FOREIGN KEY (organization, agent_run) REFERENCES agent_runs
) STRICT;

CREATE UNIQUE INDEX human_requests_open ON human_requests (organization, agent_run) WHERE state = 'open';
CREATE INDEX human_requests_expiring ON human_requests (expires_at) WHERE state = 'open';
CREATE INDEX human_requests_of_run ON human_requests (organization, agent_run);
