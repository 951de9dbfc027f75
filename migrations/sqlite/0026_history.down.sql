DROP TRIGGER inv_started_kept_by_holds;
DROP TRIGGER inv_started_never_deleted;
DROP TRIGGER inv_finished_never_deleted;
DROP TRIGGER inv_unlinked_never_deleted;
CREATE TRIGGER inv_started_never_deleted BEFORE DELETE ON inv_started
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER inv_finished_never_deleted BEFORE DELETE ON inv_finished
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER inv_unlinked_never_deleted BEFORE DELETE ON inv_unlinked
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
DROP TABLE inv_expired;
DROP TABLE history_hold_releases;
DROP TABLE history_holds;
DROP INDEX operation_runs_by_run;
DROP INDEX inv_started_by_origin;
DROP INDEX inv_started_by_user;
ALTER TABLE inv_effects RENAME TO inv_effects_by_age;
CREATE TABLE inv_effects (
    organization TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    PRIMARY KEY (organization, kind, name, sequence)
) WITHOUT ROWID;
INSERT INTO inv_effects (organization, kind, name, sequence)
    SELECT e.organization, e.kind, e.name, f.sequence FROM inv_effects_by_age e JOIN inv_finished f USING (invocation);
DROP TABLE inv_effects_by_age;
CREATE TRIGGER inv_effects_never_updated BEFORE UPDATE ON inv_effects
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER inv_effects_never_deleted BEFORE DELETE ON inv_effects
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
