DROP STATISTICS inv_effects_names;
DROP INDEX inv_text_words;
DROP FUNCTION lathe_outcome_words(TEXT, TEXT, TEXT, TEXT, TEXT);

CREATE INDEX inv_text_words ON inv_text USING gin (
    (lathe_blocks(scope, rowid)), (lathe_words(scope, output)), (lathe_words(scope, exception_message)),
    (lathe_words(scope, exception_type)), (lathe_words(scope, exception_stack_trace)), (lathe_words(scope, inputs)),
    (lathe_words(scope, facets))
) WITH (gin_pending_list_limit = 1024);

ANALYZE inv_text;
