-- Agents with their drafts. A deleted agent stays, with its revisions, and frees its slug.
CREATE TABLE agents (
    organization     TEXT COLLATE "C" NOT NULL REFERENCES organizations,
    agent            TEXT COLLATE "C" NOT NULL,
    agent_type       TEXT COLLATE "C" NOT NULL CHECK (agent_type IN ('agent', 'mcp_gateway', 'profile')),
    name             TEXT COLLATE "C" NOT NULL,
    slug             TEXT COLLATE "C" NOT NULL,
    description      TEXT COLLATE "C" NOT NULL,
    scope            TEXT COLLATE "C" NOT NULL CHECK (scope IN ('personal', 'organization')),
    -- The account of the author.
    author           TEXT COLLATE "C" NOT NULL,
    system_prompt    TEXT COLLATE "C" NOT NULL,
    running_revision BIGINT,
    updated_by       TEXT COLLATE "C" NOT NULL,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    deleted_by       TEXT COLLATE "C",
    deleted_at       BIGINT,
    sequence         BIGINT NOT NULL,
    PRIMARY KEY (organization, agent)
);

-- Each author has slugs of their own for personal agents, so that nobody learns from a refusal which ones others have. The agents of the
-- organisation share the others.
CREATE UNIQUE INDEX agents_live_slug ON agents (organization, slug, (CASE WHEN scope = 'personal' THEN author ELSE '' END))
    WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX agents_by_sequence ON agents (organization, sequence);

-- The assignments of drafts. A draft may name any tool; a deployment checks them.
CREATE TABLE agent_assignments (
    organization           TEXT COLLATE "C" NOT NULL,
    agent                  TEXT COLLATE "C" NOT NULL,
    tool                   TEXT COLLATE "C" NOT NULL,
    version_constraint     TEXT COLLATE "C" NOT NULL,
    additional_instruction TEXT COLLATE "C" NOT NULL,
    audio_fillers          TEXT COLLATE "C" NOT NULL,
    audio_filler_after_ms  BIGINT NOT NULL CHECK (audio_filler_after_ms > 0),
    result_persistence     TEXT COLLATE "C" NOT NULL CHECK (result_persistence IN ('ephemeral', 'persisted-preferred', 'persisted')),
    PRIMARY KEY (organization, agent, tool),
    FOREIGN KEY (organization, agent) REFERENCES agents
);

-- Deployed drafts.
CREATE TABLE agent_revisions (
    organization  TEXT COLLATE "C" NOT NULL,
    agent         TEXT COLLATE "C" NOT NULL,
    revision      BIGINT NOT NULL CHECK (revision > 0),
    system_prompt TEXT COLLATE "C" NOT NULL,
    assignments   TEXT COLLATE "C" NOT NULL,
    deployed_by   TEXT COLLATE "C" NOT NULL,
    deployed_at   BIGINT NOT NULL,
    PRIMARY KEY (organization, agent, revision),
    FOREIGN KEY (organization, agent) REFERENCES agents
);

CREATE TRIGGER agent_revisions_never_rewritten BEFORE UPDATE ON agent_revisions
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a revision is never rewritten');
CREATE TRIGGER agent_revisions_never_deleted BEFORE DELETE ON agent_revisions
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a revision is never deleted');
CREATE TRIGGER agents_never_deleted BEFORE DELETE ON agents
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('an agent is never deleted');
CREATE TRIGGER agents_never_revived BEFORE UPDATE OF deleted_at ON agents
    FOR EACH ROW WHEN (OLD.deleted_at IS NOT NULL) EXECUTE FUNCTION lathe_refuse('a deleted agent stays deleted');
