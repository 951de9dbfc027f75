DROP TABLE turns;
DROP TABLE presented_tools;
DROP TABLE conversations;
ALTER TABLE agent_revisions DROP COLUMN states;
DROP TABLE agent_states;
