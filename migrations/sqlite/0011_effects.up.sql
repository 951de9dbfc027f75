-- What the history can be filtered by that its ledgers say: hosts, secrets and refusals. Runs of before have none.

CREATE TABLE inv_effects (
    organization TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    PRIMARY KEY (organization, kind, name, sequence)
) WITHOUT ROWID;

CREATE TRIGGER inv_effects_never_updated BEFORE UPDATE ON inv_effects
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER inv_effects_never_deleted BEFORE DELETE ON inv_effects
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
