ALTER TABLE organizations DROP COLUMN tool_changes;
DROP TRIGGER inv_effects_never_deleted;
DELETE FROM inv_effects WHERE kind IN ('turn', 'refused_at', 'native_tool', 'agent', 'client');
CREATE TRIGGER inv_effects_never_deleted BEFORE DELETE ON inv_effects
WHEN NOT EXISTS (SELECT 1 FROM inv_expired e WHERE e.invocation = OLD.invocation)
BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
DROP INDEX inv_started_by_group;
DROP INDEX inv_started_by_origin;
CREATE INDEX inv_started_by_origin ON inv_started (
    organization, (CASE WHEN source_kind IN ('direct', 'branch-test') THEN source_kind ELSE 'conversation' END), started_at,
    invocation
);
ALTER TABLE inv_finished DROP COLUMN content;
ALTER TABLE inv_finished DROP COLUMN refused_at;
ALTER TABLE inv_started DROP COLUMN account;
ALTER TABLE inv_started DROP COLUMN native_tool;
ALTER TABLE inv_started DROP COLUMN turn;
ALTER TABLE inv_started DROP COLUMN client;
ALTER TABLE inv_started DROP COLUMN protocol;
ALTER TABLE inv_started DROP COLUMN agent_revision;
ALTER TABLE inv_started DROP COLUMN agent;
