-- A search looks for a word in all columns of an outcome. With their words in one column of the index it looks once, and for
-- several words at the same time.
DROP INDEX inv_text_words;

-- The words of an outcome, each after the scope, as lathe_words has those of one column. The words in a tsvector have less than a
-- megabyte. 300,000 bytes of words of three letters, the most that can all differ, have 975,000 with the scope. The server keeps 256 KiB
-- of an outcome. Earlier releases kept as much of each field of an exception: of more than 300,000 bytes, the first 65,536
-- characters are found.
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

-- How frequent a name of a kind is in an organisation: without it, planners take one for a hundred times rarer than it is, and read lists
-- by two effects in the wrong order.
CREATE STATISTICS inv_effects_names (mcv, dependencies) ON organization, kind, name FROM inv_effects;
ALTER STATISTICS inv_effects_names SET STATISTICS 1000;

ANALYZE inv_text;
ANALYZE inv_effects;
