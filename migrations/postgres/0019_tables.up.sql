-- The tables of Lathe, with the same columns as in SQLite. Texts compare by their bytes, and flags are 0 or 1.

-- Organisations with their sealed data keys, the users who act for them, and what users sign in with.
CREATE TABLE organizations (
    organization   TEXT COLLATE "C" PRIMARY KEY,
    data_key_id    TEXT COLLATE "C" NOT NULL,
    data_key       BYTEA NOT NULL,
    created_at     BIGINT NOT NULL,
    users_made     BIGINT NOT NULL DEFAULT 0,
    keys_made      BIGINT NOT NULL DEFAULT 0,
    tool_changes   BIGINT NOT NULL DEFAULT 0,
    redact_answers BIGINT NOT NULL DEFAULT 1
);

-- An account is the id of a user that is never given again: rows that belong to a user have it. The id that people use is free again when
-- the user is removed: rows that only tell people who did something have that one.
CREATE TABLE members (
    organization TEXT COLLATE "C" NOT NULL REFERENCES organizations,
    account      TEXT COLLATE "C" NOT NULL,
    user_id      TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    role         TEXT COLLATE "C" NOT NULL DEFAULT '',
    sequence     BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (organization, account),
    UNIQUE (organization, user_id)
);

CREATE INDEX members_by_role ON members (organization, role);
CREATE UNIQUE INDEX members_by_sequence ON members (organization, sequence);

CREATE TABLE api_keys (
    api_key_id   TEXT COLLATE "C" PRIMARY KEY,
    organization TEXT COLLATE "C" NOT NULL,
    account      TEXT COLLATE "C" NOT NULL,
    key_hash     BYTEA NOT NULL,
    created_at   BIGINT NOT NULL,
    revoked_at   BIGINT,
    name         TEXT COLLATE "C",
    expires_at   BIGINT,
    last_used_at BIGINT,
    sequence     BIGINT NOT NULL DEFAULT 0,
    FOREIGN KEY (organization, account) REFERENCES members
);

CREATE UNIQUE INDEX api_keys_by_sequence ON api_keys (organization, sequence);
CREATE INDEX api_keys_by_user ON api_keys (organization, account);

CREATE TABLE tokens (
    token_hash   BYTEA PRIMARY KEY,
    organization TEXT COLLATE "C" NOT NULL,
    account      TEXT COLLATE "C" NOT NULL,
    api_key_id   TEXT COLLATE "C" NOT NULL REFERENCES api_keys,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    FOREIGN KEY (organization, account) REFERENCES members
);

CREATE INDEX tokens_by_expiry ON tokens (expires_at);
CREATE INDEX tokens_by_user ON tokens (organization, account);
CREATE INDEX tokens_by_key ON tokens (api_key_id, created_at);

-- Tools with their tags and variables, the leases that serialise their publications, builds and versions.
CREATE TABLE tools (
    organization TEXT COLLATE "C" NOT NULL REFERENCES organizations,
    tool         TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    description  TEXT COLLATE "C" NOT NULL,
    tags         TEXT COLLATE "C" NOT NULL,
    deprecated   BIGINT NOT NULL,
    creator      TEXT COLLATE "C" NOT NULL,
    updated_by   TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    sequence     BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (organization, tool)
);

CREATE UNIQUE INDEX tools_live_name ON tools (organization, name) WHERE deprecated = 0;
CREATE UNIQUE INDEX tools_by_sequence ON tools (organization, sequence);

CREATE TABLE tool_tags (
    organization TEXT COLLATE "C" NOT NULL,
    tool         TEXT COLLATE "C" NOT NULL,
    key          TEXT COLLATE "C" NOT NULL,
    value        TEXT COLLATE "C",
    PRIMARY KEY (organization, tool, key),
    FOREIGN KEY (organization, tool) REFERENCES tools
);

CREATE INDEX tool_tags_by_key ON tool_tags (organization, key);

CREATE TABLE envvars (
    organization TEXT COLLATE "C" NOT NULL,
    tool         TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    is_secret    BIGINT NOT NULL,
    sealed       BYTEA NOT NULL,
    key_id       TEXT COLLATE "C" NOT NULL,
    creator      TEXT COLLATE "C" NOT NULL,
    updated_by   TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (organization, tool, name),
    FOREIGN KEY (organization, tool) REFERENCES tools
);

-- A row stays for ever, so that its fence only grows; without an operation nobody holds the tool.
CREATE TABLE tool_leases (
    organization TEXT COLLATE "C" NOT NULL,
    tool         TEXT COLLATE "C" NOT NULL,
    fence        BIGINT NOT NULL,
    operation    TEXT COLLATE "C",
    build        TEXT COLLATE "C",
    holder       TEXT COLLATE "C",
    since        BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    PRIMARY KEY (organization, tool),
    FOREIGN KEY (organization, tool) REFERENCES tools
);

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
    started_at   BIGINT NOT NULL,
    finished_at  BIGINT,
    PRIMARY KEY (organization, build),
    FOREIGN KEY (organization, tool) REFERENCES tools
);

CREATE UNIQUE INDEX builds_by_version ON builds (organization, version_id) WHERE version_id IS NOT NULL;
CREATE INDEX builds_running ON builds (organization, tool) WHERE state = 'running';
CREATE INDEX builds_failed ON builds (finished_at) WHERE state = 'failed';

CREATE TABLE versions (
    organization            TEXT COLLATE "C" NOT NULL,
    version_id              TEXT COLLATE "C" NOT NULL,
    tool                    TEXT COLLATE "C" NOT NULL,
    major                   BIGINT NOT NULL,
    minor                   BIGINT NOT NULL,
    patch                   BIGINT NOT NULL,
    ordinal                 BIGINT NOT NULL,
    required_envvars        TEXT COLLATE "C" NOT NULL,
    required_secret_envvars TEXT COLLATE "C" NOT NULL,
    input_schema            TEXT COLLATE "C" NOT NULL,
    commit_id               TEXT COLLATE "C" NOT NULL,
    commit_branch           TEXT COLLATE "C" NOT NULL,
    scaffold_commit         TEXT COLLATE "C" NOT NULL,
    project_path            TEXT COLLATE "C" NOT NULL,
    settings                TEXT COLLATE "C" NOT NULL,
    image_digest            TEXT COLLATE "C" NOT NULL,
    bundle_digest           TEXT COLLATE "C",
    component_digest        TEXT COLLATE "C" NOT NULL,
    build                   TEXT COLLATE "C" NOT NULL,
    deprecated              BIGINT NOT NULL,
    creator                 TEXT COLLATE "C" NOT NULL,
    updated_by              TEXT COLLATE "C" NOT NULL,
    created_at              BIGINT NOT NULL,
    updated_at              BIGINT NOT NULL,
    bump                    TEXT COLLATE "C",
    PRIMARY KEY (organization, version_id),
    UNIQUE (organization, tool, major, minor, patch),
    UNIQUE (organization, tool, ordinal),
    FOREIGN KEY (organization, tool) REFERENCES tools
);

CREATE INDEX versions_live ON versions (organization, tool, major, minor, patch) WHERE deprecated = 0;

-- The history of runs. Its tables only grow; texts that tools wrote are bytes, so that any character is kept.
-- They are partitioned by month: the id of a run begins with the second of its start.
CREATE SEQUENCE inv_started_rowid;

CREATE TABLE inv_started (
    invocation        TEXT COLLATE "C" PRIMARY KEY,
    organization      TEXT COLLATE "C" NOT NULL REFERENCES organizations,
    tool              TEXT COLLATE "C",
    major             BIGINT,
    minor             BIGINT,
    patch             BIGINT,
    source_kind       TEXT COLLATE "C" NOT NULL,
    source            TEXT COLLATE "C" NOT NULL,
    conversation_id   TEXT COLLATE "C",
    interaction_id    TEXT COLLATE "C",
    simulation_run_id TEXT COLLATE "C",
    mode              TEXT COLLATE "C" NOT NULL,
    input             TEXT COLLATE "C" NOT NULL,
    started_at        BIGINT NOT NULL,
    boot              TEXT COLLATE "C" NOT NULL,
    api_key_id        TEXT COLLATE "C",
    caller_address    TEXT COLLATE "C",
    rowid             BIGINT NOT NULL DEFAULT nextval('inv_started_rowid')
) PARTITION BY RANGE (invocation);

CREATE TABLE inv_started_default PARTITION OF inv_started DEFAULT;

CREATE INDEX inv_started_by_age ON inv_started (organization, started_at, invocation);
CREATE INDEX inv_started_by_tool ON inv_started (organization, tool, started_at);
CREATE INDEX inv_started_by_conversation ON inv_started (organization, conversation_id, started_at)
    WHERE conversation_id IS NOT NULL;
CREATE INDEX inv_started_by_simulation ON inv_started (organization, simulation_run_id) WHERE simulation_run_id IS NOT NULL;
CREATE INDEX inv_started_by_rowid ON inv_started (rowid);

-- The sequence orders the ends of runs and ties them to the search index.
CREATE SEQUENCE inv_finished_sequence;

CREATE TABLE inv_finished (
    sequence              BIGINT NOT NULL DEFAULT nextval('inv_finished_sequence'),
    invocation            TEXT COLLATE "C" PRIMARY KEY REFERENCES inv_started,
    organization          TEXT COLLATE "C" NOT NULL,
    finished_at           BIGINT NOT NULL,
    duration_ms           BIGINT NOT NULL,
    succeeded             BIGINT NOT NULL,
    output                BYTEA,
    exception_type        BYTEA,
    exception_message     BYTEA,
    exception_stack_trace BYTEA,
    persisted             BIGINT NOT NULL,
    status_events         TEXT COLLATE "C" NOT NULL,
    logs                  BYTEA NOT NULL,
    ledger                TEXT COLLATE "C"
) PARTITION BY RANGE (invocation);

CREATE TABLE inv_finished_default PARTITION OF inv_finished DEFAULT;

CREATE INDEX inv_finished_by_duration ON inv_finished (organization, duration_ms);
CREATE INDEX inv_finished_by_sequence ON inv_finished (sequence);

-- Records taken out of their conversation by a rollback.
CREATE TABLE inv_unlinked (
    invocation   TEXT COLLATE "C" PRIMARY KEY REFERENCES inv_started,
    organization TEXT COLLATE "C" NOT NULL,
    unlinked_at  BIGINT NOT NULL,
    unlinked_by  TEXT COLLATE "C" NOT NULL
);

-- The runs that go on: a list of work for whoever finds that their server is gone, not history.
CREATE TABLE inv_open (
    invocation   TEXT COLLATE "C" PRIMARY KEY,
    organization TEXT COLLATE "C" NOT NULL,
    boot         TEXT COLLATE "C" NOT NULL
);

CREATE TABLE roles (
    organization TEXT COLLATE "C" NOT NULL REFERENCES organizations,
    name         TEXT COLLATE "C" NOT NULL,
    grants       TEXT COLLATE "C" NOT NULL,
    administers  BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (organization, name)
);

-- Work that outlives its request: what an idempotency key stands for, and what a client may ask about later.
CREATE TABLE operations (
    organization    TEXT COLLATE "C" NOT NULL REFERENCES organizations,
    operation       TEXT COLLATE "C" NOT NULL,
    account         TEXT COLLATE "C" NOT NULL,
    kind            TEXT COLLATE "C" NOT NULL CHECK (kind IN ('invoke', 'publish')),
    tool            TEXT COLLATE "C" NOT NULL,
    idempotency_key TEXT COLLATE "C",
    fingerprint     BYTEA,
    state           TEXT COLLATE "C" NOT NULL CHECK (state IN ('running', 'succeeded', 'failed', 'interrupted')),
    status          BIGINT,
    refusal         BYTEA,
    build           TEXT COLLATE "C",
    boot            TEXT COLLATE "C" NOT NULL,
    started_at      BIGINT NOT NULL,
    finished_at     BIGINT,
    expires_at      BIGINT NOT NULL,
    PRIMARY KEY (organization, operation)
);

CREATE UNIQUE INDEX operations_by_key ON operations (organization, account, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX operations_by_expiry ON operations (expires_at);
CREATE INDEX operations_running ON operations (boot) WHERE state = 'running';

-- The runs of an operation, in the order of the call's inputs.
CREATE TABLE operation_runs (
    organization TEXT COLLATE "C" NOT NULL,
    operation    TEXT COLLATE "C" NOT NULL,
    input_index  BIGINT NOT NULL,
    invocation   TEXT COLLATE "C" NOT NULL REFERENCES inv_started,
    PRIMARY KEY (organization, operation, input_index),
    FOREIGN KEY (organization, operation) REFERENCES operations ON DELETE CASCADE
);

-- What the history can be filtered by that its ledgers say: hosts, secrets and refusals.
CREATE TABLE inv_effects (
    organization TEXT COLLATE "C" NOT NULL,
    kind         TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    sequence     BIGINT NOT NULL,
    PRIMARY KEY (organization, kind, name, sequence)
);

-- What runs saw of the world, sealed under their organisation's key, so that they can be replayed. Nothing is sealed for a
-- tape that grew over its bound.
CREATE TABLE tapes (
    invocation   TEXT COLLATE "C" PRIMARY KEY REFERENCES inv_started,
    organization TEXT COLLATE "C" NOT NULL,
    sealed       BYTEA,
    size         BIGINT NOT NULL,
    made_at      BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL
);

CREATE INDEX tapes_by_expiry ON tapes (expires_at);

-- Larger bodies, once per organisation. The digest is keyed, so that nobody sees who has the same.
CREATE TABLE tape_bodies (
    organization TEXT COLLATE "C" NOT NULL,
    digest       BYTEA NOT NULL,
    sealed       BYTEA NOT NULL,
    size         BIGINT NOT NULL,
    PRIMARY KEY (organization, digest)
);

CREATE TABLE tape_body_uses (
    organization TEXT COLLATE "C" NOT NULL,
    digest       BYTEA NOT NULL,
    invocation   TEXT COLLATE "C" NOT NULL REFERENCES tapes ON DELETE CASCADE,
    PRIMARY KEY (organization, digest, invocation)
);

CREATE INDEX tape_body_uses_by_tape ON tape_body_uses (invocation);

-- What requests of tools were answered, sealed under their organisation's key, for simulations of the same requests.
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

-- What is said, and signed, about how versions came to be; and the public halves of the keys, which stay when a key goes.
CREATE TABLE signing_keys (
    organization TEXT COLLATE "C" NOT NULL REFERENCES organizations (organization),
    public_key   BYTEA NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (organization, public_key)
);

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

-- The full-text index: words separated by spaces, as the server separates them. Phrases are found in the texts.
CREATE TABLE inv_text (
    rowid                 BIGINT PRIMARY KEY,
    scope                 TEXT COLLATE "C" NOT NULL,
    output                TEXT COLLATE "C",
    exception_message     TEXT COLLATE "C",
    exception_type        TEXT COLLATE "C",
    exception_stack_trace TEXT COLLATE "C",
    inputs                TEXT COLLATE "C"
);

-- A function of its own, because planners take a call of one for expensive, and so read the index: a field may have many
-- thousand words. They would rather separate the words of every row with the functions that it calls.
CREATE FUNCTION lathe_words(words TEXT) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN RETURN array_to_tsvector(string_to_array(words, ' ')); END
$$;

CREATE INDEX inv_text_words ON inv_text USING gin (
    (string_to_array(scope, ' ')), (lathe_words(output)), (lathe_words(exception_message)), (lathe_words(exception_type)),
    (lathe_words(exception_stack_trace)), (lathe_words(inputs))
) WITH (gin_pending_list_limit = 1024);

CREATE FUNCTION lathe_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END
$$;

CREATE TRIGGER versions_never_rewritten BEFORE UPDATE OF organization, version_id, tool, major, minor, patch, ordinal,
    required_envvars, required_secret_envvars, input_schema, commit_id, commit_branch, scaffold_commit, project_path,
    settings, image_digest, bundle_digest, component_digest, build, creator, created_at ON versions
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a version is never rewritten');
CREATE TRIGGER versions_never_revived BEFORE UPDATE OF deprecated ON versions
    FOR EACH ROW WHEN (OLD.deprecated = 1 AND NEW.deprecated <> 1) EXECUTE FUNCTION lathe_refuse('a deprecated version stays deprecated');
CREATE TRIGGER versions_never_deleted BEFORE DELETE ON versions
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a version is never deleted');
CREATE TRIGGER inv_started_never_updated BEFORE UPDATE ON inv_started
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('history is only added to');
CREATE TRIGGER inv_started_never_deleted BEFORE DELETE ON inv_started
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('history is only added to');
CREATE TRIGGER inv_finished_never_updated BEFORE UPDATE ON inv_finished
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('history is only added to');
CREATE TRIGGER inv_finished_never_deleted BEFORE DELETE ON inv_finished
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('history is only added to');
CREATE TRIGGER inv_unlinked_never_updated BEFORE UPDATE ON inv_unlinked
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('history is only added to');
CREATE TRIGGER inv_unlinked_never_deleted BEFORE DELETE ON inv_unlinked
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('history is only added to');
CREATE TRIGGER inv_effects_never_updated BEFORE UPDATE ON inv_effects
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('history is only added to');
CREATE TRIGGER inv_effects_never_deleted BEFORE DELETE ON inv_effects
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('history is only added to');
CREATE TRIGGER tapes_never_updated BEFORE UPDATE ON tapes
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a tape stays as it was made');
CREATE TRIGGER tape_bodies_never_updated BEFORE UPDATE ON tape_bodies
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a body stays as it is');
CREATE TRIGGER attestations_never_rewritten BEFORE UPDATE ON attestations
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('an attestation is never rewritten');
CREATE TRIGGER attestations_never_deleted BEFORE DELETE ON attestations
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('an attestation is never deleted');
CREATE TRIGGER signing_keys_never_rewritten BEFORE UPDATE ON signing_keys
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a signing key is never rewritten');
CREATE TRIGGER signing_keys_never_deleted BEFORE DELETE ON signing_keys
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a signing key is never deleted');
CREATE TRIGGER tapes_stay_their_time BEFORE DELETE ON tapes
    FOR EACH ROW WHEN (OLD.expires_at > CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT))
    EXECUTE FUNCTION lathe_refuse('the tape has not expired');

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
