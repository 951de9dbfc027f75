ALTER TABLE agent_assignments DROP COLUMN component_digest;
ALTER TABLE agent_revisions DROP COLUMN tool_exposure;
ALTER TABLE agents DROP COLUMN tool_exposure;
