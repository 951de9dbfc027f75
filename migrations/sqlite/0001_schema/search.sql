-- The full-text index of the history.

-- The server separates words itself, so that they are the same in every database: the index takes what is between two spaces. Each word
-- stands after the scope, which is that of an organisation, so that a search reads no rows of others. Facets are words for what
-- searches are filtered by.
CREATE VIRTUAL TABLE inv_text USING fts5 (
    scope UNINDEXED, output, exception_message, exception_type, exception_stack_trace, inputs, facets,
    content = '', contentless_delete = 1, tokenize = 'ascii'
);
