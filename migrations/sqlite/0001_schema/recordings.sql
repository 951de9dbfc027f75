-- What runs saw of the world, sealed under the key of their organisation. It is deleted when its time is over.

-- Effects of runs with their answers, for replays. A tape that grew over its limit is incomplete, and has no bytes.
CREATE TABLE tapes (
    invocation   TEXT PRIMARY KEY REFERENCES inv_started,
    organization TEXT NOT NULL,
    sealed       BLOB,
    size         INTEGER NOT NULL,
    made_at      INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL
) STRICT;

CREATE INDEX tapes_by_expiry ON tapes (expires_at);

CREATE TRIGGER tapes_never_updated BEFORE UPDATE ON tapes
BEGIN SELECT RAISE(ABORT, 'a tape stays as it was made'); END;
CREATE TRIGGER tapes_stay_their_time BEFORE DELETE ON tapes
WHEN OLD.expires_at > CAST(unixepoch('subsec') * 1000 AS INTEGER)
BEGIN SELECT RAISE(ABORT, 'the tape has not expired'); END;

-- Larger bodies of tapes, once for each organisation. The digest is keyed, so that nobody sees who has the same body. The largest ones
-- are objects of the storage: `object_digest` is the SHA-256 of the sealed bytes, and `sealed` is empty.
CREATE TABLE tape_bodies (
    organization  TEXT NOT NULL,
    digest        BLOB NOT NULL,
    size          INTEGER NOT NULL,
    object_digest BLOB,
    sealed        BLOB NOT NULL,
    PRIMARY KEY (organization, digest)
) STRICT;

CREATE INDEX tape_bodies_by_object ON tape_bodies (object_digest) WHERE object_digest IS NOT NULL;

CREATE TABLE tape_body_uses (
    organization TEXT NOT NULL,
    digest       BLOB NOT NULL,
    invocation   TEXT NOT NULL REFERENCES tapes ON DELETE CASCADE,
    PRIMARY KEY (organization, digest, invocation)
) STRICT, WITHOUT ROWID;

CREATE INDEX tape_body_uses_by_tape ON tape_body_uses (invocation);

CREATE TRIGGER tape_bodies_never_updated BEFORE UPDATE ON tape_bodies
BEGIN SELECT RAISE(ABORT, 'a body stays as it is'); END;
CREATE TRIGGER tape_bodies_stay_while_used BEFORE DELETE ON tape_bodies
WHEN EXISTS (SELECT 1 FROM tape_body_uses u WHERE u.organization = OLD.organization AND u.digest = OLD.digest)
BEGIN SELECT RAISE(ABORT, 'a tape has this body'); END;

-- Answers to requests of tools, for simulations of the same requests. The digest of a request is keyed, so that nobody sees the
-- request. A newer answer replaces the one before.
CREATE TABLE recorded_answers (
    organization TEXT NOT NULL,
    tool         TEXT NOT NULL,
    request      BLOB NOT NULL,
    sealed       BLOB NOT NULL,
    heard_at     INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, tool, request),
    FOREIGN KEY (organization, tool) REFERENCES tools (organization, tool) ON DELETE CASCADE
) STRICT;

CREATE INDEX recorded_answers_by_age ON recorded_answers (organization, tool, heard_at, request);
CREATE INDEX recorded_answers_by_expiry ON recorded_answers (expires_at);
