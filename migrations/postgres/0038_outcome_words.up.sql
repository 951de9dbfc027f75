-- A search looks for a word in all columns of an outcome. With their words in one column of the index it looks once, and for
-- several words at the same time.
DROP INDEX inv_text_words;

-- The words of an outcome, each after the scope, as lathe_words has those of one column. The server keeps no more of them than
-- fit into a tsvector. Earlier releases may have kept more of an exception.
CREATE FUNCTION lathe_outcome_words(scope TEXT, output TEXT, type TEXT, message TEXT, trace TEXT)
RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE words TEXT := array_to_string(ARRAY[nullif(output, ''), nullif(type, ''), nullif(message, ''), nullif(trace, '')], ' ');
BEGIN
    IF octet_length(words) > 300000 THEN words := rtrim(left(words, 65536)); END IF;
    RETURN array_to_tsvector(string_to_array(scope || replace(nullif(words, ''), ' ', ' ' || scope), ' '));
END
$$;

CREATE INDEX inv_text_words ON inv_text USING gin (
    (lathe_blocks(scope, rowid)), (lathe_outcome_words(scope, output, exception_type, exception_message, exception_stack_trace)),
    (lathe_words(scope, inputs)), (lathe_words(scope, facets))
) WITH (gin_pending_list_limit = 1024);

-- The planner has statistics of what an index computes.
ANALYZE inv_text;
