-- What ledgers say of runs, in the order of the history: a list that is filtered by it reads no other runs.
ALTER TABLE inv_effects RENAME TO inv_effects_by_sequence;

CREATE TABLE inv_effects (
    organization TEXT NOT NULL,
    kind         TEXT NOT NULL,
    name         TEXT NOT NULL,
    started_at   INTEGER NOT NULL,
    invocation   TEXT NOT NULL,
    PRIMARY KEY (organization, kind, name, started_at, invocation)
) STRICT, WITHOUT ROWID;

INSERT INTO inv_effects (organization, kind, name, started_at, invocation)
    SELECT e.organization, e.kind, e.name, s.started_at, s.invocation
    FROM inv_effects_by_sequence e CROSS JOIN inv_finished f CROSS JOIN inv_started s
    WHERE f.sequence = e.sequence AND s.invocation = f.invocation;

DROP TABLE inv_effects_by_sequence;

-- Runs by user and by origin, in the order of the history. The id of a user is another service's, of any length.
CREATE INDEX inv_started_by_user ON inv_started (organization, substr(source ->> 'user_id', 1, 256), started_at, invocation);
CREATE INDEX inv_started_by_origin ON inv_started (
    organization, (CASE WHEN source_kind IN ('direct', 'branch-test') THEN source_kind ELSE 'conversation' END), started_at,
    invocation
);

-- Finds the operations of a run that is deleted.
CREATE INDEX operation_runs_by_run ON operation_runs (invocation);

-- Legal holds: the runs that stay, however old they are. An empty column does not restrict the hold. Neither a hold nor its
-- release is ever changed.
CREATE TABLE history_holds (
    organization   TEXT NOT NULL REFERENCES organizations,
    hold           TEXT NOT NULL,
    reason         TEXT NOT NULL,
    tool           TEXT,
    started_from   INTEGER,
    started_before INTEGER,
    placed_by      TEXT NOT NULL,
    placed_at      INTEGER NOT NULL,
    PRIMARY KEY (organization, hold)
) STRICT;

CREATE TABLE history_hold_releases (
    organization TEXT NOT NULL,
    hold         TEXT NOT NULL,
    released_by  TEXT NOT NULL,
    released_at  INTEGER NOT NULL,
    PRIMARY KEY (organization, hold),
    FOREIGN KEY (organization, hold) REFERENCES history_holds
) STRICT;

CREATE TRIGGER history_holds_never_updated BEFORE UPDATE ON history_holds
BEGIN SELECT RAISE(ABORT, 'a legal hold is never changed'); END;
CREATE TRIGGER history_holds_never_deleted BEFORE DELETE ON history_holds
BEGIN SELECT RAISE(ABORT, 'a legal hold is never deleted'); END;
CREATE TRIGGER history_hold_releases_never_updated BEFORE UPDATE ON history_hold_releases
BEGIN SELECT RAISE(ABORT, 'the release of a legal hold is never changed'); END;
CREATE TRIGGER history_hold_releases_never_deleted BEFORE DELETE ON history_hold_releases
BEGIN SELECT RAISE(ABORT, 'the release of a legal hold is never deleted'); END;

-- The runs that the current transaction deletes, because their time is over. Rows of other runs cannot be deleted.
CREATE TABLE inv_expired (
    invocation TEXT PRIMARY KEY
) STRICT;

DROP TRIGGER inv_started_never_deleted;
DROP TRIGGER inv_finished_never_deleted;
DROP TRIGGER inv_unlinked_never_deleted;

CREATE TRIGGER inv_started_never_deleted BEFORE DELETE ON inv_started
WHEN NOT EXISTS (SELECT 1 FROM inv_expired e WHERE e.invocation = OLD.invocation)
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER inv_finished_never_deleted BEFORE DELETE ON inv_finished
WHEN NOT EXISTS (SELECT 1 FROM inv_expired e WHERE e.invocation = OLD.invocation)
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER inv_unlinked_never_deleted BEFORE DELETE ON inv_unlinked
WHEN NOT EXISTS (SELECT 1 FROM inv_expired e WHERE e.invocation = OLD.invocation)
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER inv_effects_never_updated BEFORE UPDATE ON inv_effects
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER inv_effects_never_deleted BEFORE DELETE ON inv_effects
WHEN NOT EXISTS (SELECT 1 FROM inv_expired e WHERE e.invocation = OLD.invocation)
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER inv_started_kept_by_holds BEFORE DELETE ON inv_started
WHEN EXISTS (SELECT 1 FROM history_holds h WHERE h.organization = OLD.organization
    AND (h.tool IS NULL OR h.tool = OLD.tool)
    AND (h.started_from IS NULL OR h.started_from <= OLD.started_at)
    AND (h.started_before IS NULL OR h.started_before > OLD.started_at)
    AND NOT EXISTS (SELECT 1 FROM history_hold_releases r WHERE r.organization = h.organization AND r.hold = h.hold))
BEGIN SELECT RAISE(ABORT, 'the run is under a legal hold'); END;
