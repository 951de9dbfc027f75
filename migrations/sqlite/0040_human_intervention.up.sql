-- The confirmations that agents ask for, in the assignments of drafts. Those of a revision and of states are in their JSON.
ALTER TABLE agent_assignments ADD COLUMN human_intervention TEXT NOT NULL DEFAULT '"never"';
