DROP INDEX agent_runs_of_items;
ALTER TABLE agent_runs DROP COLUMN item;
DROP TABLE library_revisions;
