-- Agents, with their drafts and deployed revisions.

-- A deleted agent stays, with its revisions, and frees its slug. Its columns are those of the draft.
CREATE TABLE agents (
    organization     TEXT NOT NULL REFERENCES organizations,
    agent            TEXT NOT NULL,
    sequence         INTEGER NOT NULL,
    agent_type       TEXT NOT NULL CHECK (agent_type IN ('agent', 'mcp_gateway', 'profile')),
    scope            TEXT NOT NULL CHECK (scope IN ('personal', 'organization')),
    -- The account of the author.
    author           TEXT NOT NULL,
    name             TEXT NOT NULL,
    slug             TEXT NOT NULL,
    description      TEXT NOT NULL,
    system_prompt    TEXT NOT NULL,
    -- How tools are shown to the model.
    tool_exposure    TEXT NOT NULL CHECK (tool_exposure IN ('full', 'search')),
    -- The families of the Library's tools that the agent has.
    built_in_tools   TEXT NOT NULL,
    running_revision INTEGER,
    updated_by       TEXT NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    deleted_by       TEXT,
    deleted_at       INTEGER,
    PRIMARY KEY (organization, agent)
) STRICT;

-- Each author has slugs of their own for personal agents, so that nobody learns from a refusal which ones others have. The agents of the
-- organisation share the others.
CREATE UNIQUE INDEX agents_live_slug ON agents (organization, slug, (CASE WHEN scope = 'personal' THEN author ELSE '' END))
    WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX agents_by_sequence ON agents (organization, sequence);

CREATE TRIGGER agents_never_deleted BEFORE DELETE ON agents
BEGIN SELECT RAISE(ABORT, 'an agent is never deleted'); END;
CREATE TRIGGER agents_never_revived BEFORE UPDATE OF deleted_at ON agents
WHEN OLD.deleted_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a deleted agent stays deleted'); END;

-- The assignments of drafts. A draft may name any tool: a deployment checks them.
CREATE TABLE agent_assignments (
    organization           TEXT NOT NULL,
    agent                  TEXT NOT NULL,
    tool                   TEXT NOT NULL,
    version_constraint     TEXT NOT NULL,
    -- The pinned digest.
    component_digest       TEXT,
    additional_instruction TEXT NOT NULL,
    audio_fillers          TEXT NOT NULL,
    audio_filler_after_ms  INTEGER NOT NULL CHECK (audio_filler_after_ms > 0),
    result_persistence     TEXT NOT NULL CHECK (result_persistence IN ('ephemeral', 'persisted-preferred', 'persisted')),
    -- The confirmations that the agent asks for.
    human_intervention     TEXT NOT NULL,
    PRIMARY KEY (organization, agent, tool),
    FOREIGN KEY (organization, agent) REFERENCES agents
) STRICT;

-- The states of drafts: the tools that a model sees in each.
CREATE TABLE agent_states (
    organization TEXT NOT NULL,
    agent        TEXT NOT NULL,
    name         TEXT NOT NULL,
    state        TEXT NOT NULL,
    PRIMARY KEY (organization, agent, name),
    FOREIGN KEY (organization, agent) REFERENCES agents
) STRICT;

-- Deployed drafts, with their assignments and states as JSON.
CREATE TABLE agent_revisions (
    organization   TEXT NOT NULL,
    agent          TEXT NOT NULL,
    revision       INTEGER NOT NULL CHECK (revision > 0),
    system_prompt  TEXT NOT NULL,
    tool_exposure  TEXT NOT NULL CHECK (tool_exposure IN ('full', 'search')),
    built_in_tools TEXT NOT NULL,
    assignments    TEXT NOT NULL,
    states         TEXT NOT NULL,
    deployed_by    TEXT NOT NULL,
    deployed_at    INTEGER NOT NULL,
    PRIMARY KEY (organization, agent, revision),
    FOREIGN KEY (organization, agent) REFERENCES agents
) STRICT;

CREATE TRIGGER agent_revisions_never_rewritten BEFORE UPDATE ON agent_revisions
BEGIN SELECT RAISE(ABORT, 'a revision is never rewritten'); END;
CREATE TRIGGER agent_revisions_never_deleted BEFORE DELETE ON agent_revisions
BEGIN SELECT RAISE(ABORT, 'a revision is never deleted'); END;
