-- Versions of tools, the builds and leases of their publications, and their attestations.

CREATE TABLE versions (
    organization            TEXT NOT NULL,
    version_id              TEXT NOT NULL,
    tool                    TEXT NOT NULL,
    ordinal                 INTEGER NOT NULL,
    major                   INTEGER NOT NULL,
    minor                   INTEGER NOT NULL,
    patch                   INTEGER NOT NULL,
    bump                    TEXT NOT NULL,
    commit_id               TEXT NOT NULL,
    commit_branch           TEXT NOT NULL,
    scaffold_commit         TEXT NOT NULL,
    project_path            TEXT NOT NULL,
    build                   TEXT NOT NULL,
    image_digest            TEXT NOT NULL,
    bundle_digest           TEXT,
    component_digest        TEXT NOT NULL,
    required_envvars        TEXT NOT NULL,
    required_secret_envvars TEXT NOT NULL,
    input_schema            TEXT NOT NULL,
    settings                TEXT NOT NULL,
    deprecated              INTEGER NOT NULL,
    creator                 TEXT NOT NULL,
    updated_by              TEXT NOT NULL,
    created_at              INTEGER NOT NULL,
    updated_at              INTEGER NOT NULL,
    PRIMARY KEY (organization, version_id),
    UNIQUE (organization, tool, major, minor, patch),
    UNIQUE (organization, tool, ordinal),
    FOREIGN KEY (organization, tool) REFERENCES tools
) STRICT;

CREATE INDEX versions_live ON versions (organization, tool, major, minor, patch) WHERE deprecated = 0;

-- What a version is never changes. Only its deprecation does, and only one way.
CREATE TRIGGER versions_never_rewritten BEFORE UPDATE OF organization, version_id, tool, ordinal, major, minor, patch, bump, commit_id,
    commit_branch, scaffold_commit, project_path, build, image_digest, bundle_digest, component_digest, required_envvars,
    required_secret_envvars, input_schema, settings, creator, created_at ON versions
BEGIN SELECT RAISE(ABORT, 'a version is never rewritten'); END;
CREATE TRIGGER versions_never_revived BEFORE UPDATE OF deprecated ON versions
WHEN OLD.deprecated = 1 AND NEW.deprecated <> 1
BEGIN SELECT RAISE(ABORT, 'a deprecated version stays deprecated'); END;
CREATE TRIGGER versions_never_deleted BEFORE DELETE ON versions
BEGIN SELECT RAISE(ABORT, 'a version is never deleted'); END;

-- Leases that serialise the publications of a tool. A row stays for ever, so that its fence only grows. Without an operation the
-- tool is free.
CREATE TABLE tool_leases (
    organization TEXT NOT NULL,
    tool         TEXT NOT NULL,
    fence        INTEGER NOT NULL,
    operation    TEXT,
    build        TEXT,
    holder       TEXT,
    boot         TEXT NOT NULL,
    since        INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, tool),
    FOREIGN KEY (organization, tool) REFERENCES tools
) STRICT;

-- The log and the message are bytes: compilers may print any text.
CREATE TABLE builds (
    organization TEXT NOT NULL,
    build        TEXT NOT NULL,
    tool         TEXT NOT NULL,
    version_id   TEXT,
    state        TEXT NOT NULL CHECK (state IN ('running', 'succeeded', 'failed')),
    stage        TEXT,
    message      BLOB,
    log          BLOB NOT NULL,
    creator      TEXT NOT NULL,
    boot         TEXT NOT NULL,
    started_at   INTEGER NOT NULL,
    finished_at  INTEGER,
    PRIMARY KEY (organization, build),
    FOREIGN KEY (organization, tool) REFERENCES tools
) STRICT;

CREATE UNIQUE INDEX builds_by_version ON builds (organization, version_id) WHERE version_id IS NOT NULL;
CREATE INDEX builds_running ON builds (organization, tool) WHERE state = 'running';
-- Finds failed builds by age, so that old ones are deleted without a look at their logs.
CREATE INDEX builds_failed ON builds (finished_at) WHERE state = 'failed';

-- Public halves of signing keys. They stay when the key is deleted, since attestations are verified with them.
CREATE TABLE signing_keys (
    organization TEXT NOT NULL REFERENCES organizations (organization),
    public_key   BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, public_key)
) STRICT;

CREATE TRIGGER signing_keys_never_rewritten BEFORE UPDATE ON signing_keys
BEGIN SELECT RAISE(ABORT, 'a signing key is never rewritten'); END;
CREATE TRIGGER signing_keys_never_deleted BEFORE DELETE ON signing_keys
BEGIN SELECT RAISE(ABORT, 'a signing key is never deleted'); END;

-- Signed statements about how versions were built.
CREATE TABLE attestations (
    organization TEXT NOT NULL,
    version_id   TEXT NOT NULL,
    public_key   BLOB NOT NULL,
    provenance   TEXT NOT NULL,
    sbom         TEXT NOT NULL,
    PRIMARY KEY (organization, version_id),
    FOREIGN KEY (organization, version_id) REFERENCES versions (organization, version_id),
    FOREIGN KEY (organization, public_key) REFERENCES signing_keys (organization, public_key)
) STRICT;

CREATE TRIGGER attestations_never_rewritten BEFORE UPDATE ON attestations
BEGIN SELECT RAISE(ABORT, 'an attestation is never rewritten'); END;
CREATE TRIGGER attestations_never_deleted BEFORE DELETE ON attestations
BEGIN SELECT RAISE(ABORT, 'an attestation is never deleted'); END;
