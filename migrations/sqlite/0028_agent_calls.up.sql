-- The agent through which a tool was called, by its running revision, its protocol and the client that called it, in a turn of a
-- conversation. A native tool is one that the server itself provides. Runs of earlier releases have none of these.
ALTER TABLE inv_started ADD COLUMN agent TEXT;
ALTER TABLE inv_started ADD COLUMN agent_revision INTEGER;
ALTER TABLE inv_started ADD COLUMN protocol TEXT;
ALTER TABLE inv_started ADD COLUMN client TEXT;
ALTER TABLE inv_started ADD COLUMN turn TEXT;
ALTER TABLE inv_started ADD COLUMN native_tool TEXT;

-- The account of the caller. The source has the user id, as people know it, or a user whom the caller claims to act for.
ALTER TABLE inv_started ADD COLUMN account TEXT;

-- The step that refused a call, and the content blocks of a result. Both are null for other runs.
ALTER TABLE inv_finished ADD COLUMN refused_at TEXT;
ALTER TABLE inv_finished ADD COLUMN content TEXT;

-- The origin of a call through an agent is that of its protocol, whatever its source.
DROP INDEX inv_started_by_origin;
CREATE INDEX inv_started_by_origin ON inv_started (
    organization, (CASE WHEN protocol = 'mcp' THEN 'mcp' WHEN protocol = 'rest' THEN 'agent'
        WHEN source_kind IN ('direct', 'branch-test') THEN source_kind ELSE 'conversation' END), started_at, invocation
);

-- Runs by group, in the order of the history: by their tool, its version and the type of their source.
CREATE INDEX inv_started_by_group ON inv_started (
    organization, (coalesce(tool, '') || ' ' || CAST(coalesce(major, 0) AS TEXT) || '.' || CAST(coalesce(minor, 0) AS TEXT) || '.'
        || CAST(coalesce(patch, 0) AS TEXT) || CASE WHEN source_kind = 'simulation-conversation'
        OR (source_kind <> 'regular-conversation' AND mode = 'conversation-simulation') THEN ' simulation' ELSE '' END),
    started_at, invocation
);

-- The number of changes of tools and agents: what a server has of them in memory is right as long as it is the same.
ALTER TABLE organizations ADD COLUMN tool_changes INTEGER NOT NULL DEFAULT 0;
