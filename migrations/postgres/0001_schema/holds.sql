-- Legal holds: runs that stay, however old they are. Neither a hold nor its release is ever changed.

-- An empty column does not restrict the hold.
CREATE TABLE history_holds (
    organization   TEXT COLLATE "C" NOT NULL REFERENCES organizations,
    hold           TEXT COLLATE "C" NOT NULL,
    reason         TEXT COLLATE "C" NOT NULL,
    tool           TEXT COLLATE "C",
    started_from   BIGINT,
    started_before BIGINT,
    placed_by      TEXT COLLATE "C" NOT NULL,
    placed_at      BIGINT NOT NULL,
    PRIMARY KEY (organization, hold)
);

CREATE TRIGGER history_holds_never_updated BEFORE UPDATE ON history_holds
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a legal hold is never changed');
CREATE TRIGGER history_holds_never_deleted BEFORE DELETE ON history_holds
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a legal hold is never deleted');

CREATE TABLE history_hold_releases (
    organization TEXT COLLATE "C" NOT NULL,
    hold         TEXT COLLATE "C" NOT NULL,
    released_by  TEXT COLLATE "C" NOT NULL,
    released_at  BIGINT NOT NULL,
    PRIMARY KEY (organization, hold),
    FOREIGN KEY (organization, hold) REFERENCES history_holds
);

CREATE TRIGGER history_hold_releases_never_updated BEFORE UPDATE ON history_hold_releases
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('the release of a legal hold is never changed');
CREATE TRIGGER history_hold_releases_never_deleted BEFORE DELETE ON history_hold_releases
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('the release of a legal hold is never deleted');

CREATE FUNCTION lathe_keep_held_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM history_holds h WHERE h.organization = OLD.organization
        AND (h.tool IS NULL OR h.tool = OLD.tool)
        AND (h.started_from IS NULL OR h.started_from <= OLD.started_at)
        AND (h.started_before IS NULL OR h.started_before > OLD.started_at)
        AND NOT EXISTS (SELECT 1 FROM history_hold_releases r WHERE r.organization = h.organization AND r.hold = h.hold)) THEN
        RAISE EXCEPTION 'the run is under a legal hold';
    END IF;
    RETURN OLD;
END
$$;

CREATE TRIGGER inv_started_kept_by_holds BEFORE DELETE ON inv_started
    FOR EACH ROW EXECUTE FUNCTION lathe_keep_held_run();
