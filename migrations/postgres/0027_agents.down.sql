DROP TABLE agent_revisions;
DROP TABLE agent_assignments;
DROP TABLE agents;
