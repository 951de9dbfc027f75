-- How the tools of an agent are shown to its model, in the draft and in the revision, and the pinned digests of assignments. The
-- assignments of a revision have theirs in their JSON.
ALTER TABLE agents ADD COLUMN tool_exposure TEXT NOT NULL DEFAULT 'full' CHECK (tool_exposure IN ('full', 'search'));
ALTER TABLE agent_revisions ADD COLUMN tool_exposure TEXT NOT NULL DEFAULT 'full' CHECK (tool_exposure IN ('full', 'search'));
ALTER TABLE agent_assignments ADD COLUMN component_digest TEXT;
