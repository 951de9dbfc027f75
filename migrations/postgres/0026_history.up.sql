-- What ledgers say of runs, in the order of the history: a list that is filtered by it reads no other runs.
ALTER TABLE inv_effects RENAME TO inv_effects_by_sequence;
ALTER INDEX inv_effects_pkey RENAME TO inv_effects_by_sequence_pkey;

CREATE TABLE inv_effects (
    organization TEXT COLLATE "C" NOT NULL,
    kind         TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    started_at   BIGINT NOT NULL,
    invocation   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, kind, name, started_at, invocation)
);

INSERT INTO inv_effects (organization, kind, name, started_at, invocation)
    SELECT e.organization, e.kind, e.name, s.started_at, s.invocation
    FROM inv_effects_by_sequence e JOIN inv_finished f ON f.sequence = e.sequence
    JOIN inv_started s ON s.invocation = f.invocation;

DROP TABLE inv_effects_by_sequence;

-- Runs by user and by origin, in the order of the history. The id of a user is another service's, of any length. The index has all
-- runs: the planner knows how frequent a user is from a complete index only.
CREATE INDEX inv_started_by_user
    ON inv_started (organization, substr(CAST(source AS JSON) ->> 'user_id', 1, 256), started_at, invocation);
CREATE INDEX inv_started_by_origin ON inv_started (
    organization, (CASE WHEN source_kind IN ('direct', 'branch-test') THEN source_kind ELSE 'conversation' END), started_at,
    invocation
);

-- Finds the operations of a run that is deleted.
CREATE INDEX operation_runs_by_run ON operation_runs (invocation);

-- Legal holds: the runs that stay, however old they are. An empty column does not restrict the hold. Neither a hold nor its
-- release is ever changed.
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

CREATE TABLE history_hold_releases (
    organization TEXT COLLATE "C" NOT NULL,
    hold         TEXT COLLATE "C" NOT NULL,
    released_by  TEXT COLLATE "C" NOT NULL,
    released_at  BIGINT NOT NULL,
    PRIMARY KEY (organization, hold),
    FOREIGN KEY (organization, hold) REFERENCES history_holds
);

CREATE TRIGGER history_holds_never_updated BEFORE UPDATE ON history_holds
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a legal hold is never changed');
CREATE TRIGGER history_holds_never_deleted BEFORE DELETE ON history_holds
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a legal hold is never deleted');
CREATE TRIGGER history_hold_releases_never_updated BEFORE UPDATE ON history_hold_releases
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('the release of a legal hold is never changed');
CREATE TRIGGER history_hold_releases_never_deleted BEFORE DELETE ON history_hold_releases
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('the release of a legal hold is never deleted');

-- The runs that the current transaction deletes, because their time is over. Rows of other runs cannot be deleted.
CREATE TABLE inv_expired (
    invocation TEXT COLLATE "C" PRIMARY KEY
);

CREATE FUNCTION lathe_keep_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM inv_expired e WHERE e.invocation = OLD.invocation) THEN
        RAISE EXCEPTION 'history is only added to';
    END IF;
    RETURN OLD;
END
$$;

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

DROP TRIGGER inv_started_never_deleted ON inv_started;
DROP TRIGGER inv_finished_never_deleted ON inv_finished;
DROP TRIGGER inv_unlinked_never_deleted ON inv_unlinked;

CREATE TRIGGER inv_started_never_deleted BEFORE DELETE ON inv_started
    FOR EACH ROW EXECUTE FUNCTION lathe_keep_history();
CREATE TRIGGER inv_finished_never_deleted BEFORE DELETE ON inv_finished
    FOR EACH ROW EXECUTE FUNCTION lathe_keep_history();
CREATE TRIGGER inv_unlinked_never_deleted BEFORE DELETE ON inv_unlinked
    FOR EACH ROW EXECUTE FUNCTION lathe_keep_history();
CREATE TRIGGER inv_effects_never_updated BEFORE UPDATE ON inv_effects
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('history is only added to');
CREATE TRIGGER inv_effects_never_deleted BEFORE DELETE ON inv_effects
    FOR EACH ROW EXECUTE FUNCTION lathe_keep_history();
CREATE TRIGGER inv_started_kept_by_holds BEFORE DELETE ON inv_started
    FOR EACH ROW EXECUTE FUNCTION lathe_keep_held_run();

-- The blocks of its organisation that a row of the full-text index is in, one of each size: 512 rows, and eight times as many each
-- time. A search reads the newest blocks first. A function of its own for the same reason as lathe_words.
CREATE FUNCTION lathe_blocks(scope TEXT, row_id BIGINT) RETURNS TEXT[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN ARRAY[scope || '/0/' || (row_id >> 9), scope || '/1/' || (row_id >> 12), scope || '/2/' || (row_id >> 15),
        scope || '/3/' || (row_id >> 18), scope || '/4/' || (row_id >> 21), scope || '/5/' || (row_id >> 24)];
END
$$;

DROP INDEX inv_text_words;
CREATE INDEX inv_text_words ON inv_text USING gin (
    (lathe_blocks(scope, rowid)), (lathe_words(output)), (lathe_words(exception_message)), (lathe_words(exception_type)),
    (lathe_words(exception_stack_trace)), (lathe_words(inputs))
) WITH (gin_pending_list_limit = 1024);
