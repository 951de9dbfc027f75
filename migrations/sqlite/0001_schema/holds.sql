-- Legal holds: runs that stay, however old they are. Neither a hold nor its release is ever changed.

-- An empty column does not restrict the hold.
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

CREATE TRIGGER history_holds_never_updated BEFORE UPDATE ON history_holds
BEGIN SELECT RAISE(ABORT, 'a legal hold is never changed'); END;
CREATE TRIGGER history_holds_never_deleted BEFORE DELETE ON history_holds
BEGIN SELECT RAISE(ABORT, 'a legal hold is never deleted'); END;

CREATE TABLE history_hold_releases (
    organization TEXT NOT NULL,
    hold         TEXT NOT NULL,
    released_by  TEXT NOT NULL,
    released_at  INTEGER NOT NULL,
    PRIMARY KEY (organization, hold),
    FOREIGN KEY (organization, hold) REFERENCES history_holds
) STRICT;

CREATE TRIGGER history_hold_releases_never_updated BEFORE UPDATE ON history_hold_releases
BEGIN SELECT RAISE(ABORT, 'the release of a legal hold is never changed'); END;
CREATE TRIGGER history_hold_releases_never_deleted BEFORE DELETE ON history_hold_releases
BEGIN SELECT RAISE(ABORT, 'the release of a legal hold is never deleted'); END;

CREATE TRIGGER inv_started_kept_by_holds BEFORE DELETE ON inv_started
WHEN EXISTS (SELECT 1 FROM history_holds h WHERE h.organization = OLD.organization
    AND (h.tool IS NULL OR h.tool = OLD.tool)
    AND (h.started_from IS NULL OR h.started_from <= OLD.started_at)
    AND (h.started_before IS NULL OR h.started_before > OLD.started_at)
    AND NOT EXISTS (SELECT 1 FROM history_hold_releases r WHERE r.organization = h.organization AND r.hold = h.hold))
BEGIN SELECT RAISE(ABORT, 'the run is under a legal hold'); END;
