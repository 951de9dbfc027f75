DROP TABLE inv_text;

CREATE VIRTUAL TABLE inv_text USING fts5 (
    scope, output, exception_message, exception_type, exception_stack_trace, inputs, content = '', tokenize = 'ascii'
);
