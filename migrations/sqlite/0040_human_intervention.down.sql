ALTER TABLE agent_assignments DROP COLUMN human_intervention;
