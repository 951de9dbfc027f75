-- Runs of agents: a model that calls tools until it has its answer. The document is the checkpoint, from which any server goes on.
CREATE TABLE agent_runs (
    organization TEXT NOT NULL,
    agent_run    TEXT NOT NULL,
    agent        TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('running', 'paused', 'completed', 'failed', 'cancelled')),
    iterations   INTEGER NOT NULL,
    document     TEXT NOT NULL,
    boot         TEXT NOT NULL,
    revision     INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    ended_at     INTEGER,
    PRIMARY KEY (organization, agent_run),
    FOREIGN KEY (organization, agent) REFERENCES agents
) STRICT;

CREATE INDEX agent_runs_running ON agent_runs (boot) WHERE state = 'running';

-- The steps of runs of agents: what the model did, and what came of it.
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
