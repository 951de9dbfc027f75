-- The runs that failed, and those of each group that did, in the order of the history, so that a list of them reads no other runs.
INSERT INTO inv_effects (organization, kind, name, started_at, invocation)
    SELECT s.organization, 'outcome', 'failed', s.started_at, s.invocation
    FROM inv_finished f CROSS JOIN inv_started s ON s.invocation = f.invocation WHERE f.succeeded = 0;
INSERT INTO inv_effects (organization, kind, name, started_at, invocation)
    SELECT s.organization, 'outcome', 'failed ' || coalesce(s.tool, '') || ' ' || CAST(coalesce(s.major, 0) AS TEXT) || '.'
        || CAST(coalesce(s.minor, 0) AS TEXT) || '.' || CAST(coalesce(s.patch, 0) AS TEXT)
        || CASE WHEN s.source_kind = 'simulation-conversation'
        OR (s.source_kind <> 'regular-conversation' AND s.mode = 'conversation-simulation') THEN ' simulation' ELSE '' END,
        s.started_at, s.invocation
    FROM inv_finished f CROSS JOIN inv_started s ON s.invocation = f.invocation WHERE f.succeeded = 0;

-- The words of each organisation are words of their own, so that a search reads no rows of others; and the index has facets of
-- runs, for searches with filters. The server fills an empty index at its next start.
DROP TABLE inv_text;

CREATE VIRTUAL TABLE inv_text USING fts5 (
    scope UNINDEXED, output, exception_message, exception_type, exception_stack_trace, inputs, facets,
    content = '', contentless_delete = 1, tokenize = 'ascii'
);
