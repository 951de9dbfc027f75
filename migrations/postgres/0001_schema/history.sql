-- The history of runs. Rows are only added, and deleted when their time is over. Starts and ends are partitioned by month: the id of a run
-- begins with the second of its start.

-- Runs that the present transaction deletes because their time is over. Triggers refuse to delete rows of other runs.
CREATE TABLE inv_expired (
    invocation TEXT COLLATE "C" PRIMARY KEY
);

CREATE FUNCTION lathe_keep_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM inv_expired e WHERE e.invocation = OLD.invocation) THEN
        RAISE EXCEPTION 'history is only added to';
    END IF;
    RETURN OLD;
END
$$;

-- Pages of the history are found by the position of a start, as by the row id of SQLite.
CREATE SEQUENCE inv_started_rowid;

CREATE TABLE inv_started (
    rowid             BIGINT NOT NULL DEFAULT nextval('inv_started_rowid'),
    invocation        TEXT COLLATE "C" PRIMARY KEY,
    organization      TEXT COLLATE "C" NOT NULL REFERENCES organizations,
    started_at        BIGINT NOT NULL,
    boot              TEXT COLLATE "C" NOT NULL,
    -- Null for the test of a branch, and for a native tool, which the server itself provides.
    tool              TEXT COLLATE "C",
    major             BIGINT,
    minor             BIGINT,
    patch             BIGINT,
    native_tool       TEXT COLLATE "C",
    -- The account of the caller. The source has the user id, as people know it, or a user whom the caller claims to act for.
    account           TEXT COLLATE "C" NOT NULL,
    -- The key and the address of the caller: the other end of the connection, which is a proxy if there is one. Null for work that goes
    -- on without a request of the caller.
    api_key_id        TEXT COLLATE "C",
    caller_address    TEXT COLLATE "C",
    -- The agent through which the tool was called, by its running revision, the protocol and the client that called it, in a turn of a
    -- conversation.
    agent             TEXT COLLATE "C",
    agent_revision    BIGINT,
    protocol          TEXT COLLATE "C",
    client            TEXT COLLATE "C",
    turn              TEXT COLLATE "C",
    conversation_id   TEXT COLLATE "C",
    interaction_id    TEXT COLLATE "C",
    simulation_run_id TEXT COLLATE "C",
    mode              TEXT COLLATE "C" NOT NULL,
    source_kind       TEXT COLLATE "C" NOT NULL,
    source            TEXT COLLATE "C" NOT NULL,
    input             TEXT COLLATE "C" NOT NULL
) PARTITION BY RANGE (invocation);

CREATE TABLE inv_started_default PARTITION OF inv_started DEFAULT;

CREATE INDEX inv_started_by_rowid ON inv_started (rowid);

CREATE INDEX inv_started_by_age ON inv_started (organization, started_at, invocation);
CREATE INDEX inv_started_by_tool ON inv_started (organization, tool, started_at);
CREATE INDEX inv_started_by_conversation ON inv_started (organization, conversation_id, started_at)
    WHERE conversation_id IS NOT NULL;
-- Finds the runs of a simulation for its rollback. Few runs belong to one.
CREATE INDEX inv_started_by_simulation ON inv_started (organization, simulation_run_id) WHERE simulation_run_id IS NOT NULL;
-- Runs by user, in the order of the history. The id of a user is another service's, of any length. The index has all runs: the planner
-- knows how frequent a user is from a complete index only.
CREATE INDEX inv_started_by_user
    ON inv_started (organization, substr(CAST(source AS JSON) ->> 'user_id', 1, 256), started_at, invocation);
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
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('history is only added to');
CREATE TRIGGER inv_started_never_deleted BEFORE DELETE ON inv_started
    FOR EACH ROW EXECUTE FUNCTION lathe_keep_history();

-- The sequence orders the ends of runs and ties them to the full-text index. Texts that tools wrote are bytes, so that any
-- character is kept.
CREATE SEQUENCE inv_finished_sequence;

CREATE TABLE inv_finished (
    sequence              BIGINT NOT NULL DEFAULT nextval('inv_finished_sequence'),
    invocation            TEXT COLLATE "C" PRIMARY KEY REFERENCES inv_started,
    organization          TEXT COLLATE "C" NOT NULL,
    finished_at           BIGINT NOT NULL,
    duration_ms           BIGINT NOT NULL,
    succeeded             BIGINT NOT NULL,
    -- Whether the output belongs to the log of the conversation.
    persisted             BIGINT NOT NULL,
    -- The step that refused the call. Null for a run that was executed.
    refused_at            TEXT COLLATE "C",
    -- What the run was granted, used, was refused and cost. Null for a refused call, and for a run of which the server could record only
    -- that it has ended.
    ledger                TEXT COLLATE "C",
    status_events         TEXT COLLATE "C" NOT NULL,
    output                BYTEA,
    -- The content blocks of the result.
    content               TEXT COLLATE "C",
    exception_type        BYTEA,
    exception_message     BYTEA,
    exception_stack_trace BYTEA,
    logs                  BYTEA NOT NULL
) PARTITION BY RANGE (invocation);

CREATE TABLE inv_finished_default PARTITION OF inv_finished DEFAULT;

CREATE INDEX inv_finished_by_sequence ON inv_finished (sequence);

-- Runs by their duration.
CREATE INDEX inv_finished_by_duration ON inv_finished (organization, duration_ms);

CREATE TRIGGER inv_finished_never_updated BEFORE UPDATE ON inv_finished
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('history is only added to');
CREATE TRIGGER inv_finished_never_deleted BEFORE DELETE ON inv_finished
    FOR EACH ROW EXECUTE FUNCTION lathe_keep_history();

-- Runs that a rollback has taken out of their conversation.
CREATE TABLE inv_unlinked (
    invocation   TEXT COLLATE "C" PRIMARY KEY REFERENCES inv_started,
    organization TEXT COLLATE "C" NOT NULL,
    unlinked_at  BIGINT NOT NULL,
    unlinked_by  TEXT COLLATE "C" NOT NULL
);

CREATE TRIGGER inv_unlinked_never_updated BEFORE UPDATE ON inv_unlinked
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('history is only added to');
CREATE TRIGGER inv_unlinked_never_deleted BEFORE DELETE ON inv_unlinked
    FOR EACH ROW EXECUTE FUNCTION lathe_keep_history();

-- Runs that have not ended: a list of work for the server that finds that theirs is gone, not history.
CREATE TABLE inv_open (
    invocation   TEXT COLLATE "C" PRIMARY KEY,
    organization TEXT COLLATE "C" NOT NULL,
    boot         TEXT COLLATE "C" NOT NULL
);

-- What runs are filtered by: their hosts, secrets, refusals, agents and failures. Rows are in the order of the history, so that a
-- filtered list reads no other runs.
CREATE TABLE inv_effects (
    organization TEXT COLLATE "C" NOT NULL,
    kind         TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    started_at   BIGINT NOT NULL,
    invocation   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, kind, name, started_at, invocation)
);

-- How frequent a name of a kind is in an organisation: without it, the planner takes one for a hundred times rarer than it is, and reads
-- lists by two effects in the wrong order.
CREATE STATISTICS inv_effects_names (mcv, dependencies) ON organization, kind, name FROM inv_effects;
ALTER STATISTICS inv_effects_names SET STATISTICS 1000;

CREATE TRIGGER inv_effects_never_updated BEFORE UPDATE ON inv_effects
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('history is only added to');
CREATE TRIGGER inv_effects_never_deleted BEFORE DELETE ON inv_effects
    FOR EACH ROW EXECUTE FUNCTION lathe_keep_history();
