ALTER TABLE inv_effects DISABLE TRIGGER inv_effects_never_deleted;
DELETE FROM inv_effects WHERE kind = 'outcome';
ALTER TABLE inv_effects ENABLE TRIGGER inv_effects_never_deleted;

DROP INDEX inv_text_words;
DROP FUNCTION lathe_words(TEXT, TEXT);
ALTER TABLE inv_text DROP COLUMN facets;

UPDATE inv_text t SET scope = 'o' || encode(convert_to(f.organization, 'UTF8'), 'hex') FROM inv_finished f WHERE f.sequence = t.rowid;

CREATE FUNCTION lathe_words(words TEXT) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN RETURN array_to_tsvector(string_to_array(words, ' ')); END
$$;

CREATE INDEX inv_text_words ON inv_text USING gin (
    (lathe_blocks(scope, rowid)), (lathe_words(output)), (lathe_words(exception_message)), (lathe_words(exception_type)),
    (lathe_words(exception_stack_trace)), (lathe_words(inputs))
) WITH (gin_pending_list_limit = 1024);
