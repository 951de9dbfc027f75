-- The full-text index of the history.

-- The server separates words itself, so that they are the same in every database: the index takes what is between two spaces. The scope
-- is that of an organisation. Facets are words for what searches are filtered by. Phrases are found in the texts.
CREATE TABLE inv_text (
    rowid                 BIGINT PRIMARY KEY,
    scope                 TEXT COLLATE "C" NOT NULL,
    output                TEXT COLLATE "C",
    exception_message     TEXT COLLATE "C",
    exception_type        TEXT COLLATE "C",
    exception_stack_trace TEXT COLLATE "C",
    inputs                TEXT COLLATE "C",
    facets                TEXT COLLATE "C"
);

-- The index calls functions of its own, because planners take a call of one for expensive, and so read the index: a field may have many
-- thousand words. They would rather separate the words of every row with the functions that it calls.

-- The words of a text, each after the scope, so that a search reads no rows of other organisations.
CREATE FUNCTION lathe_words(scope TEXT, words TEXT) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN RETURN array_to_tsvector(string_to_array(scope || replace(nullif(words, ''), ' ', ' ' || scope), ' ')); END
$$;

-- The words of an outcome in one column of the index, which is read once for a word of any field, and for several words at the same time.
-- The words in a tsvector have less than a megabyte. 300,000 bytes of words of three letters, the most that can all differ, have 975,000
-- with the scope. The server keeps 256 KiB of an outcome. Of a longer one, the first 65,536 characters are found.
CREATE FUNCTION lathe_outcome_words(scope TEXT, output TEXT, type TEXT, message TEXT, trace TEXT)
RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE words TEXT := array_to_string(ARRAY[nullif(output, ''), nullif(type, ''), nullif(message, ''), nullif(trace, '')], ' ');
BEGIN
    IF octet_length(words) > 300000 THEN words := rtrim(left(words, 65536)); END IF;
    RETURN array_to_tsvector(string_to_array(scope || replace(nullif(words, ''), ' ', ' ' || scope), ' '));
END
$$;

-- The blocks of its organisation that a row is in, one of each size: 512 rows, and eight times as many each time. A search reads the
-- newest blocks first.
CREATE FUNCTION lathe_blocks(scope TEXT, row_id BIGINT) RETURNS TEXT[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN ARRAY[scope || '/0/' || (row_id >> 9), scope || '/1/' || (row_id >> 12), scope || '/2/' || (row_id >> 15),
        scope || '/3/' || (row_id >> 18), scope || '/4/' || (row_id >> 21), scope || '/5/' || (row_id >> 24)];
END
$$;

CREATE INDEX inv_text_words ON inv_text USING gin (
    (lathe_blocks(scope, rowid)), (lathe_outcome_words(scope, output, exception_type, exception_message, exception_stack_trace)),
    (lathe_words(scope, inputs)), (lathe_words(scope, facets))
) WITH (gin_pending_list_limit = 1024);
