-- The full-text index also has the inputs, and each Chinese and Japanese character as a word. Its content comes from the
-- records: the server fills an empty index at its next start.
DROP TABLE inv_text;

CREATE VIRTUAL TABLE inv_text USING fts5 (
    scope, output, exception_message, exception_type, exception_stack_trace, inputs, content = '', tokenize = 'unicode61'
);
