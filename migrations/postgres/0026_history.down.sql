DROP INDEX inv_text_words;
CREATE INDEX inv_text_words ON inv_text USING gin (
    (string_to_array(scope, ' ')), (lathe_words(output)), (lathe_words(exception_message)), (lathe_words(exception_type)),
    (lathe_words(exception_stack_trace)), (lathe_words(inputs))
) WITH (gin_pending_list_limit = 1024);
DROP FUNCTION lathe_blocks(TEXT, BIGINT);
DROP TRIGGER inv_started_kept_by_holds ON inv_started;
DROP TRIGGER inv_started_never_deleted ON inv_started;
DROP TRIGGER inv_finished_never_deleted ON inv_finished;
DROP TRIGGER inv_unlinked_never_deleted ON inv_unlinked;
CREATE TRIGGER inv_started_never_deleted BEFORE DELETE ON inv_started
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('history is only added to');
CREATE TRIGGER inv_finished_never_deleted BEFORE DELETE ON inv_finished
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('history is only added to');
CREATE TRIGGER inv_unlinked_never_deleted BEFORE DELETE ON inv_unlinked
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('history is only added to');
DROP TRIGGER inv_effects_never_deleted ON inv_effects;
DROP FUNCTION lathe_keep_held_run();
DROP FUNCTION lathe_keep_history();
DROP TABLE inv_expired;
DROP TABLE history_hold_releases;
DROP TABLE history_holds;
DROP INDEX operation_runs_by_run;
DROP INDEX inv_started_by_origin;
DROP INDEX inv_started_by_user;
ALTER TABLE inv_effects RENAME TO inv_effects_by_age;
ALTER INDEX inv_effects_pkey RENAME TO inv_effects_by_age_pkey;
CREATE TABLE inv_effects (
    organization TEXT COLLATE "C" NOT NULL,
    kind         TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    sequence     BIGINT NOT NULL,
    PRIMARY KEY (organization, kind, name, sequence)
);
INSERT INTO inv_effects (organization, kind, name, sequence)
    SELECT e.organization, e.kind, e.name, f.sequence FROM inv_effects_by_age e JOIN inv_finished f USING (invocation);
DROP TABLE inv_effects_by_age;
CREATE TRIGGER inv_effects_never_updated BEFORE UPDATE ON inv_effects
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('history is only added to');
CREATE TRIGGER inv_effects_never_deleted BEFORE DELETE ON inv_effects
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('history is only added to');
