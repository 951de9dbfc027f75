-- The words of each organisation are words of their own, so that a search reads no rows of others; and the index has facets of
-- runs, for searches with filters. The server fills an empty index at its next start.
DROP TABLE inv_text;

CREATE VIRTUAL TABLE inv_text USING fts5 (
    scope UNINDEXED, output, exception_message, exception_type, exception_stack_trace, inputs, facets,
    content = '', contentless_delete = 1, tokenize = 'ascii'
);
