-- Agents, with their drafts and deployed revisions.

-- A deleted agent stays, with its revisions, and frees its slug. Its columns are those of the draft.
CREATE TABLE agents (
    organization     TEXT COLLATE "C" NOT NULL REFERENCES organizations,
    agent            TEXT COLLATE "C" NOT NULL,
    sequence         BIGINT NOT NULL,
    agent_type       TEXT COLLATE "C" NOT NULL CHECK (agent_type IN ('agent', 'mcp_gateway', 'profile')),
    scope            TEXT COLLATE "C" NOT NULL CHECK (scope IN ('personal', 'organization')),
    -- The account of the author.
    author           TEXT COLLATE "C" NOT NULL,
    name             TEXT COLLATE "C" NOT NULL,
    slug             TEXT COLLATE "C" NOT NULL,
    description      TEXT COLLATE "C" NOT NULL,
    system_prompt    TEXT COLLATE "C" NOT NULL,
    -- How tools are shown to the model.
    tool_exposure    TEXT COLLATE "C" NOT NULL CHECK (tool_exposure IN ('full', 'search')),
    -- The families of the Library's tools that the agent has.
    built_in_tools   TEXT COLLATE "C" NOT NULL,
    running_revision BIGINT,
    updated_by       TEXT COLLATE "C" NOT NULL,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    deleted_by       TEXT COLLATE "C",
    deleted_at       BIGINT,
    PRIMARY KEY (organization, agent)
);

-- Each author has slugs of their own for personal agents, so that nobody learns from a refusal which ones others have. The agents of the
-- organisation share the others.
CREATE UNIQUE INDEX agents_live_slug ON agents (organization, slug, (CASE WHEN scope = 'personal' THEN author ELSE '' END))
    WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX agents_by_sequence ON agents (organization, sequence);

CREATE TRIGGER agents_never_deleted BEFORE DELETE ON agents
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('an agent is never deleted');
CREATE TRIGGER agents_never_revived BEFORE UPDATE OF deleted_at ON agents
    FOR EACH ROW WHEN (OLD.deleted_at IS NOT NULL) EXECUTE FUNCTION lathe_refuse('a deleted agent stays deleted');

-- The assignments of drafts. A draft may name any tool: a deployment checks them.
CREATE TABLE agent_assignments (
    organization           TEXT COLLATE "C" NOT NULL,
    agent                  TEXT COLLATE "C" NOT NULL,
    tool                   TEXT COLLATE "C" NOT NULL,
    version_constraint     TEXT COLLATE "C" NOT NULL,
    -- The pinned digest.
    component_digest       TEXT COLLATE "C",
    additional_instruction TEXT COLLATE "C" NOT NULL,
    audio_fillers          TEXT COLLATE "C" NOT NULL,
    audio_filler_after_ms  BIGINT NOT NULL CHECK (audio_filler_after_ms > 0),
    result_persistence     TEXT COLLATE "C" NOT NULL CHECK (result_persistence IN ('ephemeral', 'persisted-preferred', 'persisted')),
    -- The confirmations that the agent asks for.
    human_intervention     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, agent, tool),
    FOREIGN KEY (organization, agent) REFERENCES agents
);

-- The states of drafts: the tools that a model sees in each.
CREATE TABLE agent_states (
    organization TEXT COLLATE "C" NOT NULL,
    agent        TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    state        TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, agent, name),
    FOREIGN KEY (organization, agent) REFERENCES agents
);

-- Deployed drafts, with their assignments and states as JSON.
CREATE TABLE agent_revisions (
    organization   TEXT COLLATE "C" NOT NULL,
    agent          TEXT COLLATE "C" NOT NULL,
    revision       BIGINT NOT NULL CHECK (revision > 0),
    system_prompt  TEXT COLLATE "C" NOT NULL,
    tool_exposure  TEXT COLLATE "C" NOT NULL CHECK (tool_exposure IN ('full', 'search')),
    built_in_tools TEXT COLLATE "C" NOT NULL,
    assignments    TEXT COLLATE "C" NOT NULL,
    states         TEXT COLLATE "C" NOT NULL,
    deployed_by    TEXT COLLATE "C" NOT NULL,
    deployed_at    BIGINT NOT NULL,
    PRIMARY KEY (organization, agent, revision),
    FOREIGN KEY (organization, agent) REFERENCES agents
);

CREATE TRIGGER agent_revisions_never_rewritten BEFORE UPDATE ON agent_revisions
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a revision is never rewritten');
CREATE TRIGGER agent_revisions_never_deleted BEFORE DELETE ON agent_revisions
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a revision is never deleted');
