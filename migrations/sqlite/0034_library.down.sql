DROP TABLE library_shares;
DROP TABLE library_items;
ALTER TABLE agent_revisions DROP COLUMN built_in_tools;
ALTER TABLE agents DROP COLUMN built_in_tools;
