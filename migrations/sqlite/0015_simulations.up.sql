-- Finds the runs of a simulation for its rollback. Few runs belong to one.

CREATE INDEX inv_started_by_simulation ON inv_started (organization, simulation_run_id) WHERE simulation_run_id IS NOT NULL;
