DROP TRIGGER inv_effects_never_deleted;
DELETE FROM inv_effects WHERE kind = 'outcome';
CREATE TRIGGER inv_effects_never_deleted BEFORE DELETE ON inv_effects
WHEN NOT EXISTS (SELECT 1 FROM inv_expired e WHERE e.invocation = OLD.invocation)
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;

DROP TABLE inv_text;

CREATE VIRTUAL TABLE inv_text USING fts5 (
    scope, output, exception_message, exception_type, exception_stack_trace, inputs, content = '', tokenize = 'ascii'
);
