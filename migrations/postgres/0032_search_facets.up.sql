-- The runs that failed, and those of each group that did, in the order of the history, so that a list of them reads no other runs.
INSERT INTO inv_effects (organization, kind, name, started_at, invocation)
    SELECT s.organization, 'outcome', 'failed', s.started_at, s.invocation
    FROM inv_finished f JOIN inv_started s ON s.invocation = f.invocation WHERE f.succeeded = 0;
INSERT INTO inv_effects (organization, kind, name, started_at, invocation)
    SELECT s.organization, 'outcome', 'failed ' || coalesce(s.tool, '') || ' ' || CAST(coalesce(s.major, 0) AS TEXT) || '.'
        || CAST(coalesce(s.minor, 0) AS TEXT) || '.' || CAST(coalesce(s.patch, 0) AS TEXT)
        || CASE WHEN s.source_kind = 'simulation-conversation'
        OR (s.source_kind <> 'regular-conversation' AND s.mode = 'conversation-simulation') THEN ' simulation' ELSE '' END,
        s.started_at, s.invocation
    FROM inv_finished f JOIN inv_started s ON s.invocation = f.invocation WHERE f.succeeded = 0;

-- The words of each organisation are words of their own in the index, so that a search reads no rows of others; and the index has
-- facets of runs, for searches with filters.
DROP INDEX inv_text_words;
ALTER TABLE inv_text ADD COLUMN facets TEXT COLLATE "C";

-- Facets of the runs that are there, as the server computes those of new runs.
WITH facets AS (
    SELECT s.invocation, 'tool' AS kind, s.tool AS name FROM inv_started s
    UNION ALL
    SELECT s.invocation, 'user', CAST(s.source AS JSON) ->> 'user_id' FROM inv_started s
    UNION ALL
    SELECT s.invocation, 'hour', CAST(s.started_at / 3600000 AS TEXT) FROM inv_started s
    UNION ALL
    SELECT s.invocation, 'day', CAST(s.started_at / 86400000 AS TEXT) FROM inv_started s
    UNION ALL
    SELECT s.invocation, 'days', CAST((s.started_at / 86400000) >> 5 AS TEXT) FROM inv_started s
    UNION ALL
    SELECT e.invocation, e.kind, e.name FROM inv_effects e WHERE e.kind <> 'turn' AND (e.kind <> 'outcome' OR e.name = 'failed')
), of_runs AS (
    SELECT invocation, string_agg(DISTINCT facet, ' ' ORDER BY facet) AS facets
    FROM (SELECT invocation, left(encode(sha256(convert_to(kind || ' ' || name, 'UTF8')), 'hex'), 8) COLLATE "C" AS facet
        FROM facets WHERE name IS NOT NULL) each
    GROUP BY invocation
)
UPDATE inv_text t
SET facets = coalesce(r.facets, ''), scope = left(encode(sha256(convert_to(f.organization, 'UTF8')), 'hex'), 10)
FROM inv_finished f LEFT JOIN of_runs r ON r.invocation = f.invocation
WHERE f.sequence = t.rowid;

DROP FUNCTION lathe_words(TEXT);

-- The words of a text, each after the scope. A function of its own, because planners take a call of one for expensive, and so read
-- the index: a field may have many thousand words. They would rather separate the words of every row with the functions that it calls.
CREATE FUNCTION lathe_words(scope TEXT, words TEXT) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN RETURN array_to_tsvector(string_to_array(scope || replace(nullif(words, ''), ' ', ' ' || scope), ' ')); END
$$;

CREATE INDEX inv_text_words ON inv_text USING gin (
    (lathe_blocks(scope, rowid)), (lathe_words(scope, output)), (lathe_words(scope, exception_message)),
    (lathe_words(scope, exception_type)), (lathe_words(scope, exception_stack_trace)), (lathe_words(scope, inputs)),
    (lathe_words(scope, facets))
) WITH (gin_pending_list_limit = 1024);
