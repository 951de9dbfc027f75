-- Runs of agents, and their requests to people.

-- A model that calls tools until it has its answer, or one call that a client does not wait for. The document is the checkpoint, from
-- which any server goes on.
CREATE TABLE agent_runs (
    organization    TEXT COLLATE "C" NOT NULL,
    agent_run       TEXT COLLATE "C" NOT NULL,
    agent           TEXT COLLATE "C" NOT NULL,
    account         TEXT COLLATE "C" NOT NULL,
    kind            TEXT COLLATE "C" NOT NULL CHECK (kind IN ('agent', 'call')),
    idempotency_key TEXT COLLATE "C",
    fingerprint     BYTEA,
    -- The task whose occurrence started the run. Null for other runs, and when the task has the end of its run.
    item            TEXT COLLATE "C",
    objective       TEXT COLLATE "C" NOT NULL,
    state           TEXT COLLATE "C" NOT NULL CHECK (state IN ('running', 'paused', 'completed', 'failed', 'cancelled')),
    iterations      BIGINT NOT NULL,
    -- Servers that took the run over since its last checkpoint.
    attempts        BIGINT NOT NULL DEFAULT 0,
    boot            TEXT COLLATE "C" NOT NULL,
    revision        BIGINT NOT NULL,
    document        TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    ended_at        BIGINT,
    PRIMARY KEY (organization, agent_run),
    FOREIGN KEY (organization, agent) REFERENCES agents
);

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
    organization TEXT COLLATE "C" NOT NULL,
    agent_run    TEXT COLLATE "C" NOT NULL,
    number       BIGINT NOT NULL,
    milestone    TEXT COLLATE "C",
    document     TEXT COLLATE "C" NOT NULL,
    at           BIGINT NOT NULL,
    PRIMARY KEY (organization, agent_run, number),
    FOREIGN KEY (organization, agent_run) REFERENCES agent_runs
);

-- Requests of paused runs to people. A run has at most one open request.
CREATE TABLE human_requests (
    organization  TEXT COLLATE "C" NOT NULL,
    human_request TEXT COLLATE "C" NOT NULL,
    agent_run     TEXT COLLATE "C" NOT NULL,
    kind          TEXT COLLATE "C" NOT NULL CHECK (kind IN ('question', 'approval', 'form')),
    urgency       TEXT COLLATE "C" NOT NULL CHECK (urgency IN ('low', 'medium', 'high')),
    state         TEXT COLLATE "C" NOT NULL CHECK (state IN ('open', 'answered', 'expired', 'cancelled')),
    document      TEXT COLLATE "C" NOT NULL,
    response      TEXT COLLATE "C",
    answered_by   TEXT COLLATE "C",
    created_at    BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL,
    closed_at     BIGINT,
    PRIMARY KEY (organization, human_request),
    FOREIGN KEY (organization, agent_run) REFERENCES agent_runs
);

CREATE UNIQUE INDEX human_requests_open ON human_requests (organization, agent_run) WHERE state = 'open';
CREATE INDEX human_requests_expiring ON human_requests (expires_at) WHERE state = 'open';
CREATE INDEX human_requests_of_run ON human_requests (organization, agent_run);
