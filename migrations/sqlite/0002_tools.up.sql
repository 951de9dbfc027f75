-- Tools with their tags and variables, the leases that serialise their publications, builds and versions.

CREATE TABLE tools (
    organization TEXT NOT NULL REFERENCES organizations,
    tool         TEXT NOT NULL,
    name         TEXT NOT NULL,
    description  TEXT NOT NULL,
    tags         TEXT NOT NULL,
    deprecated   INTEGER NOT NULL,
    creator      TEXT NOT NULL,
    updated_by   TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, tool)
) STRICT;

CREATE UNIQUE INDEX tools_live_name ON tools (organization, name) WHERE deprecated = 0;
CREATE INDEX tools_by_age ON tools (organization, created_at, tool);

CREATE TABLE tool_tags (
    organization TEXT NOT NULL,
    tool         TEXT NOT NULL,
    key          TEXT NOT NULL,
    value        TEXT,
    PRIMARY KEY (organization, tool, key),
    FOREIGN KEY (organization, tool) REFERENCES tools
) STRICT;

CREATE INDEX tool_tags_by_key ON tool_tags (organization, key);

CREATE TABLE envvars (
    organization TEXT NOT NULL,
    tool         TEXT NOT NULL,
    name         TEXT NOT NULL,
    is_secret    INTEGER NOT NULL,
    sealed       BLOB NOT NULL,
    key_id       TEXT NOT NULL,
    creator      TEXT NOT NULL,
    updated_by   TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, tool, name),
    FOREIGN KEY (organization, tool) REFERENCES tools
) STRICT;

-- A row stays for ever, so that its fence only grows; without an operation nobody holds the tool.
CREATE TABLE tool_leases (
    organization TEXT NOT NULL,
    tool         TEXT NOT NULL,
    fence        INTEGER NOT NULL,
    operation    TEXT,
    build        TEXT,
    holder       TEXT,
    since        INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, tool),
    FOREIGN KEY (organization, tool) REFERENCES tools
) STRICT;

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
    started_at   INTEGER NOT NULL,
    finished_at  INTEGER,
    PRIMARY KEY (organization, build),
    FOREIGN KEY (organization, tool) REFERENCES tools
) STRICT;

CREATE UNIQUE INDEX builds_by_version ON builds (organization, version_id) WHERE version_id IS NOT NULL;
CREATE INDEX builds_running ON builds (organization, tool) WHERE state = 'running';

CREATE TABLE versions (
    organization            TEXT NOT NULL,
    version_id              TEXT NOT NULL,
    tool                    TEXT NOT NULL,
    major                   INTEGER NOT NULL,
    minor                   INTEGER NOT NULL,
    patch                   INTEGER NOT NULL,
    ordinal                 INTEGER NOT NULL,
    required_envvars        TEXT NOT NULL,
    required_secret_envvars TEXT NOT NULL,
    input_schema            TEXT NOT NULL,
    commit_id               TEXT NOT NULL,
    commit_branch           TEXT NOT NULL,
    scaffold_commit         TEXT NOT NULL,
    project_path            TEXT NOT NULL,
    settings                TEXT NOT NULL,
    image_digest            TEXT NOT NULL,
    bundle_digest           TEXT,
    component_digest        TEXT NOT NULL,
    build                   TEXT NOT NULL,
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

-- What a version is never changes; only its deprecation does, and only one way.
CREATE TRIGGER versions_never_rewritten BEFORE UPDATE OF organization, version_id, tool, major, minor, patch, ordinal,
    required_envvars, required_secret_envvars, input_schema, commit_id, commit_branch, scaffold_commit, project_path,
    settings, image_digest, bundle_digest, component_digest, build, creator, created_at ON versions
BEGIN SELECT RAISE(ABORT, 'a version is never rewritten'); END;

CREATE TRIGGER versions_never_revived BEFORE UPDATE OF deprecated ON versions
WHEN OLD.deprecated = 1 AND NEW.deprecated <> 1
BEGIN SELECT RAISE(ABORT, 'a deprecated version stays deprecated'); END;

CREATE TRIGGER versions_never_deleted BEFORE DELETE ON versions
BEGIN SELECT RAISE(ABORT, 'a version is never deleted'); END;
