-- The runs that failed, in the order of the history, so that a list of those with other effects reads no other runs.
INSERT INTO inv_effects (organization, kind, name, started_at, invocation)
    SELECT s.organization, 'outcome', 'failed', s.started_at, s.invocation
    FROM inv_finished f CROSS JOIN inv_started s ON s.invocation = f.invocation WHERE f.succeeded = 0;

-- The words of each organisation are words of their own, so that a search reads no rows of others; and the index has facets of
-- runs, for searches with filters. The server fills an empty index at its next start.
DROP TABLE inv_text;

CREATE VIRTUAL TABLE inv_text USING fts5 (
    scope UNINDEXED, output, exception_message, exception_type, exception_stack_trace, inputs, facets,
    content = '', contentless_delete = 1, tokenize = 'ascii'
);
