-- The history of runs. Rows are only added, and deleted when their time is over.

-- Runs that the present transaction deletes because their time is over. Triggers refuse to delete rows of other runs.
CREATE TABLE inv_expired (
    invocation TEXT PRIMARY KEY
) STRICT;

CREATE TABLE inv_started (
    invocation        TEXT PRIMARY KEY,
    organization      TEXT NOT NULL REFERENCES organizations,
    started_at        INTEGER NOT NULL,
    boot              TEXT NOT NULL,
    -- Null for the test of a branch, and for a native tool, which the server itself provides.
    tool              TEXT,
    major             INTEGER,
    minor             INTEGER,
    patch             INTEGER,
    native_tool       TEXT,
    -- The account of the caller. The source has the user id, as people know it, or a user whom the caller claims to act for.
    account           TEXT NOT NULL,
    -- The key and the address of the caller: the other end of the connection, which is a proxy if there is one. Null for work that goes
    -- on without a request of the caller.
    api_key_id        TEXT,
    caller_address    TEXT,
    -- The agent through which the tool was called, by its running revision, the protocol and the client that called it, in a turn of a
    -- conversation.
    agent             TEXT,
    agent_revision    INTEGER,
    protocol          TEXT,
    client            TEXT,
    turn              TEXT,
    conversation_id   TEXT,
    interaction_id    TEXT,
    simulation_run_id TEXT,
    mode              TEXT NOT NULL,
    source_kind       TEXT NOT NULL,
    source            TEXT NOT NULL,
    input             TEXT NOT NULL
) STRICT;

CREATE INDEX inv_started_by_age ON inv_started (organization, started_at, invocation);
CREATE INDEX inv_started_by_tool ON inv_started (organization, tool, started_at);
CREATE INDEX inv_started_by_conversation ON inv_started (organization, conversation_id, started_at)
    WHERE conversation_id IS NOT NULL;
-- Finds the runs of a simulation for its rollback. Few runs belong to one.
CREATE INDEX inv_started_by_simulation ON inv_started (organization, simulation_run_id) WHERE simulation_run_id IS NOT NULL;
-- Runs by user, in the order of the history. The id of a user is another service's, of any length.
CREATE INDEX inv_started_by_user ON inv_started (organization, substr(source ->> 'user_id', 1, 256), started_at, invocation);
-- Runs by origin. That of a call through an agent is that of its protocol, whatever its source.
CREATE INDEX inv_started_by_origin ON inv_started (
    organization, (CASE WHEN protocol = 'mcp' THEN 'mcp' WHEN protocol = 'rest' THEN 'agent'
        WHEN source_kind IN ('direct', 'branch-test') THEN source_kind ELSE 'conversation' END), started_at, invocation
);
-- Runs by group: by their tool, its version and the type of their source.
CREATE INDEX inv_started_by_group ON inv_started (
    organization, (coalesce(tool, '') || ' ' || CAST(coalesce(major, 0) AS TEXT) || '.' || CAST(coalesce(minor, 0) AS TEXT) || '.'
        || CAST(coalesce(patch, 0) AS TEXT) || CASE WHEN source_kind = 'simulation-conversation'
        OR (source_kind <> 'regular-conversation' AND mode = 'conversation-simulation') THEN ' simulation' ELSE '' END),
    started_at, invocation
);

CREATE TRIGGER inv_started_never_updated BEFORE UPDATE ON inv_started
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER inv_started_never_deleted BEFORE DELETE ON inv_started
WHEN NOT EXISTS (SELECT 1 FROM inv_expired e WHERE e.invocation = OLD.invocation)
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;

-- The sequence orders the ends of runs and ties them to the full-text index. Texts that tools wrote are bytes, so that any
-- character is kept.
CREATE TABLE inv_finished (
    sequence              INTEGER PRIMARY KEY AUTOINCREMENT,
    invocation            TEXT NOT NULL UNIQUE REFERENCES inv_started,
    organization          TEXT NOT NULL,
    finished_at           INTEGER NOT NULL,
    duration_ms           INTEGER NOT NULL,
    succeeded             INTEGER NOT NULL,
    -- Whether the output belongs to the log of the conversation.
    persisted             INTEGER NOT NULL,
    -- The step that refused the call. Null for a run that was executed.
    refused_at            TEXT,
    -- What the run was granted, used, was refused and cost. Null for a refused call, and for a run of which the server could record only
    -- that it has ended.
    ledger                TEXT,
    status_events         TEXT NOT NULL,
    output                BLOB,
    -- The content blocks of the result.
    content               TEXT,
    exception_type        BLOB,
    exception_message     BLOB,
    exception_stack_trace BLOB,
    logs                  BLOB NOT NULL
) STRICT;

-- Runs by their duration.
CREATE INDEX inv_finished_by_duration ON inv_finished (organization, duration_ms);

CREATE TRIGGER inv_finished_never_updated BEFORE UPDATE ON inv_finished
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER inv_finished_never_deleted BEFORE DELETE ON inv_finished
WHEN NOT EXISTS (SELECT 1 FROM inv_expired e WHERE e.invocation = OLD.invocation)
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;

-- Runs that a rollback has taken out of their conversation.
CREATE TABLE inv_unlinked (
    invocation   TEXT PRIMARY KEY REFERENCES inv_started,
    organization TEXT NOT NULL,
    unlinked_at  INTEGER NOT NULL,
    unlinked_by  TEXT NOT NULL
) STRICT;

CREATE TRIGGER inv_unlinked_never_updated BEFORE UPDATE ON inv_unlinked
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER inv_unlinked_never_deleted BEFORE DELETE ON inv_unlinked
WHEN NOT EXISTS (SELECT 1 FROM inv_expired e WHERE e.invocation = OLD.invocation)
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;

-- Runs that have not ended: a list of work for the server that finds that theirs is gone, not history.
CREATE TABLE inv_open (
    invocation   TEXT PRIMARY KEY,
    organization TEXT NOT NULL,
    boot         TEXT NOT NULL
) STRICT;

-- What runs are filtered by: their hosts, secrets, refusals, agents and failures. Rows are in the order of the history, so that a
-- filtered list reads no other runs.
CREATE TABLE inv_effects (
    organization TEXT NOT NULL,
    kind         TEXT NOT NULL,
    name         TEXT NOT NULL,
    started_at   INTEGER NOT NULL,
    invocation   TEXT NOT NULL,
    PRIMARY KEY (organization, kind, name, started_at, invocation)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER inv_effects_never_updated BEFORE UPDATE ON inv_effects
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER inv_effects_never_deleted BEFORE DELETE ON inv_effects
WHEN NOT EXISTS (SELECT 1 FROM inv_expired e WHERE e.invocation = OLD.invocation)
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
