-- What runs saw of the world, sealed under their organisation's key, so that they can be replayed. Rows are never
-- changed, and go when their time is over.

-- Nothing is sealed for a tape that grew over its bound.
CREATE TABLE tapes (
    invocation   TEXT PRIMARY KEY REFERENCES inv_started,
    organization TEXT NOT NULL,
    sealed       BLOB,
    size         INTEGER NOT NULL,
    made_at      INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL
) STRICT;

CREATE INDEX tapes_by_expiry ON tapes (expires_at);

-- Larger bodies, once per organisation. The digest is keyed, so that nobody sees who has the same.
CREATE TABLE tape_bodies (
    organization TEXT NOT NULL,
    digest       BLOB NOT NULL,
    sealed       BLOB NOT NULL,
    size         INTEGER NOT NULL,
    PRIMARY KEY (organization, digest)
) STRICT;

CREATE TABLE tape_body_uses (
    organization TEXT NOT NULL,
    digest       BLOB NOT NULL,
    invocation   TEXT NOT NULL REFERENCES tapes ON DELETE CASCADE,
    PRIMARY KEY (organization, digest, invocation)
) STRICT, WITHOUT ROWID;

CREATE INDEX tape_body_uses_by_tape ON tape_body_uses (invocation);

CREATE TRIGGER tapes_never_updated BEFORE UPDATE ON tapes
BEGIN SELECT RAISE(ABORT, 'a tape stays as it was made'); END;
CREATE TRIGGER tapes_stay_their_time BEFORE DELETE ON tapes
WHEN OLD.expires_at > CAST(unixepoch('subsec') * 1000 AS INTEGER)
BEGIN SELECT RAISE(ABORT, 'the tape has not expired'); END;
CREATE TRIGGER tape_bodies_never_updated BEFORE UPDATE ON tape_bodies
BEGIN SELECT RAISE(ABORT, 'a body stays as it is'); END;
CREATE TRIGGER tape_bodies_stay_while_used BEFORE DELETE ON tape_bodies
WHEN EXISTS (SELECT 1 FROM tape_body_uses u WHERE u.organization = OLD.organization AND u.digest = OLD.digest)
BEGIN SELECT RAISE(ABORT, 'a tape has this body'); END;
