-- The history of runs. Its tables only grow; texts that tools wrote are bytes, so that any character is kept.

CREATE TABLE inv_started (
    invocation        TEXT PRIMARY KEY,
    organization      TEXT NOT NULL REFERENCES organizations,
    tool              TEXT,
    major             INTEGER,
    minor             INTEGER,
    patch             INTEGER,
    source_kind       TEXT NOT NULL,
    source            TEXT NOT NULL,
    conversation_id   TEXT,
    interaction_id    TEXT,
    simulation_run_id TEXT,
    mode              TEXT NOT NULL,
    input             TEXT NOT NULL,
    started_at        INTEGER NOT NULL,
    boot              TEXT NOT NULL
) STRICT;

CREATE INDEX inv_started_by_age ON inv_started (organization, started_at, invocation);
CREATE INDEX inv_started_by_tool ON inv_started (organization, tool, started_at);
CREATE INDEX inv_started_by_conversation ON inv_started (organization, conversation_id, started_at)
    WHERE conversation_id IS NOT NULL;

-- The sequence orders the ends of runs and ties them to the search index.
CREATE TABLE inv_finished (
    sequence              INTEGER PRIMARY KEY AUTOINCREMENT,
    invocation            TEXT NOT NULL UNIQUE REFERENCES inv_started,
    organization          TEXT NOT NULL,
    finished_at           INTEGER NOT NULL,
    duration_ms           INTEGER NOT NULL,
    succeeded             INTEGER NOT NULL,
    output                BLOB,
    exception_type        BLOB,
    exception_message     BLOB,
    exception_stack_trace BLOB,
    persisted             INTEGER NOT NULL,
    status_events         TEXT NOT NULL,
    logs                  BLOB NOT NULL
) STRICT;

-- Records taken out of their conversation by a rollback.
CREATE TABLE inv_unlinked (
    invocation   TEXT PRIMARY KEY REFERENCES inv_started,
    organization TEXT NOT NULL,
    unlinked_at  INTEGER NOT NULL,
    unlinked_by  TEXT NOT NULL
) STRICT;

-- The runs that go on: a list of work for the next start of the server, not history.
CREATE TABLE inv_open (
    invocation   TEXT PRIMARY KEY,
    organization TEXT NOT NULL,
    boot         TEXT NOT NULL
) STRICT;

CREATE VIRTUAL TABLE inv_text USING fts5 (
    scope, output, exception_message, exception_type, exception_stack_trace, content = '', tokenize = 'unicode61'
);

CREATE TRIGGER inv_started_never_updated BEFORE UPDATE ON inv_started
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER inv_started_never_deleted BEFORE DELETE ON inv_started
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER inv_finished_never_updated BEFORE UPDATE ON inv_finished
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER inv_finished_never_deleted BEFORE DELETE ON inv_finished
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER inv_unlinked_never_updated BEFORE UPDATE ON inv_unlinked
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER inv_unlinked_never_deleted BEFORE DELETE ON inv_unlinked
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
