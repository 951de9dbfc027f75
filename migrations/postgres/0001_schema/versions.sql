-- Versions of tools, the builds and leases of their publications, and their attestations.

-- Refuses a change with the message of its trigger, in every table whose rows do not change.
CREATE FUNCTION lathe_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END
$$;

CREATE TABLE versions (
    organization            TEXT COLLATE "C" NOT NULL,
    version_id              TEXT COLLATE "C" NOT NULL,
    tool                    TEXT COLLATE "C" NOT NULL,
    ordinal                 BIGINT NOT NULL,
    major                   BIGINT NOT NULL,
    minor                   BIGINT NOT NULL,
    patch                   BIGINT NOT NULL,
    bump                    TEXT COLLATE "C" NOT NULL,
    commit_id               TEXT COLLATE "C" NOT NULL,
    commit_branch           TEXT COLLATE "C" NOT NULL,
    scaffold_commit         TEXT COLLATE "C" NOT NULL,
    project_path            TEXT COLLATE "C" NOT NULL,
    build                   TEXT COLLATE "C" NOT NULL,
    image_digest            TEXT COLLATE "C" NOT NULL,
    bundle_digest           TEXT COLLATE "C",
    component_digest        TEXT COLLATE "C" NOT NULL,
    required_envvars        TEXT COLLATE "C" NOT NULL,
    required_secret_envvars TEXT COLLATE "C" NOT NULL,
    input_schema            TEXT COLLATE "C" NOT NULL,
    settings                TEXT COLLATE "C" NOT NULL,
    deprecated              BIGINT NOT NULL,
    creator                 TEXT COLLATE "C" NOT NULL,
    updated_by              TEXT COLLATE "C" NOT NULL,
    created_at              BIGINT NOT NULL,
    updated_at              BIGINT NOT NULL,
    PRIMARY KEY (organization, version_id),
    UNIQUE (organization, tool, major, minor, patch),
    UNIQUE (organization, tool, ordinal),
    FOREIGN KEY (organization, tool) REFERENCES tools
);

CREATE INDEX versions_live ON versions (organization, tool, major, minor, patch) WHERE deprecated = 0;

-- What a version is never changes. Only its deprecation does, and only one way.
CREATE TRIGGER versions_never_rewritten BEFORE UPDATE OF organization, version_id, tool, ordinal, major, minor, patch, bump, commit_id,
    commit_branch, scaffold_commit, project_path, build, image_digest, bundle_digest, component_digest, required_envvars,
    required_secret_envvars, input_schema, settings, creator, created_at ON versions
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a version is never rewritten');
CREATE TRIGGER versions_never_revived BEFORE UPDATE OF deprecated ON versions
    FOR EACH ROW WHEN (OLD.deprecated = 1 AND NEW.deprecated <> 1) EXECUTE FUNCTION lathe_refuse('a deprecated version stays deprecated');
CREATE TRIGGER versions_never_deleted BEFORE DELETE ON versions
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a version is never deleted');

-- Leases that serialise the publications of a tool. A row stays for ever, so that its fence only grows. Without an operation the
-- tool is free.
CREATE TABLE tool_leases (
    organization TEXT COLLATE "C" NOT NULL,
    tool         TEXT COLLATE "C" NOT NULL,
    fence        BIGINT NOT NULL,
    operation    TEXT COLLATE "C",
    build        TEXT COLLATE "C",
    holder       TEXT COLLATE "C",
    boot         TEXT COLLATE "C" NOT NULL,
    since        BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    PRIMARY KEY (organization, tool),
    FOREIGN KEY (organization, tool) REFERENCES tools
);

-- The log and the message are bytes: compilers may print any text.
CREATE TABLE builds (
    organization TEXT COLLATE "C" NOT NULL,
    build        TEXT COLLATE "C" NOT NULL,
    tool         TEXT COLLATE "C" NOT NULL,
    version_id   TEXT COLLATE "C",
    state        TEXT COLLATE "C" NOT NULL CHECK (state IN ('running', 'succeeded', 'failed')),
    stage        TEXT COLLATE "C",
    message      BYTEA,
    log          BYTEA NOT NULL,
    creator      TEXT COLLATE "C" NOT NULL,
    boot         TEXT COLLATE "C" NOT NULL,
    started_at   BIGINT NOT NULL,
    finished_at  BIGINT,
    PRIMARY KEY (organization, build),
    FOREIGN KEY (organization, tool) REFERENCES tools
);

CREATE UNIQUE INDEX builds_by_version ON builds (organization, version_id) WHERE version_id IS NOT NULL;
CREATE INDEX builds_running ON builds (organization, tool) WHERE state = 'running';
-- Finds failed builds by age, so that old ones are deleted without a look at their logs.
CREATE INDEX builds_failed ON builds (finished_at) WHERE state = 'failed';

-- Public halves of signing keys. They stay when the key is deleted, since attestations are verified with them.
CREATE TABLE signing_keys (
    organization TEXT COLLATE "C" NOT NULL REFERENCES organizations (organization),
    public_key   BYTEA NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (organization, public_key)
);

CREATE TRIGGER signing_keys_never_rewritten BEFORE UPDATE ON signing_keys
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a signing key is never rewritten');
CREATE TRIGGER signing_keys_never_deleted BEFORE DELETE ON signing_keys
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a signing key is never deleted');

-- Signed statements about how versions were built.
CREATE TABLE attestations (
    organization TEXT COLLATE "C" NOT NULL,
    version_id   TEXT COLLATE "C" NOT NULL,
    public_key   BYTEA NOT NULL,
    provenance   TEXT COLLATE "C" NOT NULL,
    sbom         TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, version_id),
    FOREIGN KEY (organization, version_id) REFERENCES versions (organization, version_id),
    FOREIGN KEY (organization, public_key) REFERENCES signing_keys (organization, public_key)
);

CREATE TRIGGER attestations_never_rewritten BEFORE UPDATE ON attestations
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('an attestation is never rewritten');
CREATE TRIGGER attestations_never_deleted BEFORE DELETE ON attestations
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('an attestation is never deleted');
