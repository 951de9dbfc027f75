-- What runs saw of the world, sealed under the key of their organisation. It is deleted when its time is over.

-- Effects of runs with their answers, for replays. A tape that grew over its limit is incomplete, and has no bytes.
CREATE TABLE tapes (
    invocation   TEXT COLLATE "C" PRIMARY KEY REFERENCES inv_started,
    organization TEXT COLLATE "C" NOT NULL,
    sealed       BYTEA,
    size         BIGINT NOT NULL,
    made_at      BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL
);

CREATE INDEX tapes_by_expiry ON tapes (expires_at);

CREATE TRIGGER tapes_never_updated BEFORE UPDATE ON tapes
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a tape stays as it was made');
CREATE TRIGGER tapes_stay_their_time BEFORE DELETE ON tapes
    FOR EACH ROW WHEN (OLD.expires_at > CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT))
    EXECUTE FUNCTION lathe_refuse('the tape has not expired');

-- Larger bodies of tapes, once for each organisation. The digest is keyed, so that nobody sees who has the same body. The largest ones
-- are objects of the storage: `object_digest` is the SHA-256 of the sealed bytes, and `sealed` is empty.
CREATE TABLE tape_bodies (
    organization  TEXT COLLATE "C" NOT NULL,
    digest        BYTEA NOT NULL,
    size          BIGINT NOT NULL,
    object_digest BYTEA,
    sealed        BYTEA NOT NULL,
    PRIMARY KEY (organization, digest)
);

CREATE INDEX tape_bodies_by_object ON tape_bodies (object_digest) WHERE object_digest IS NOT NULL;

CREATE TABLE tape_body_uses (
    organization TEXT COLLATE "C" NOT NULL,
    digest       BYTEA NOT NULL,
    invocation   TEXT COLLATE "C" NOT NULL REFERENCES tapes ON DELETE CASCADE,
    PRIMARY KEY (organization, digest, invocation)
);

CREATE INDEX tape_body_uses_by_tape ON tape_body_uses (invocation);

CREATE TRIGGER tape_bodies_never_updated BEFORE UPDATE ON tape_bodies
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a body stays as it is');

CREATE FUNCTION lathe_keep_used_body() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM tape_body_uses u WHERE u.organization = OLD.organization AND u.digest = OLD.digest) THEN
        RAISE EXCEPTION 'a tape has this body';
    END IF;
    RETURN OLD;
END
$$;

CREATE TRIGGER tape_bodies_stay_while_used BEFORE DELETE ON tape_bodies
    FOR EACH ROW EXECUTE FUNCTION lathe_keep_used_body();

-- Answers to requests of tools, for simulations of the same requests. The digest of a request is keyed, so that nobody sees the
-- request. A newer answer replaces the one before.
CREATE TABLE recorded_answers (
    organization TEXT COLLATE "C" NOT NULL,
    tool         TEXT COLLATE "C" NOT NULL,
    request      BYTEA NOT NULL,
    sealed       BYTEA NOT NULL,
    heard_at     BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    PRIMARY KEY (organization, tool, request),
    FOREIGN KEY (organization, tool) REFERENCES tools (organization, tool) ON DELETE CASCADE
);

CREATE INDEX recorded_answers_by_age ON recorded_answers (organization, tool, heard_at, request);
CREATE INDEX recorded_answers_by_expiry ON recorded_answers (expires_at);
