-- The server separates words itself, for every database in the same way: the index takes what is between two spaces. Its
-- content comes from the records: the server fills an empty index at its next start.
DROP TABLE inv_text;

CREATE VIRTUAL TABLE inv_text USING fts5 (
    scope, output, exception_message, exception_type, exception_stack_trace, inputs, content = '', tokenize = 'ascii'
);
