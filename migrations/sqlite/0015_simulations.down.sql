DROP INDEX inv_started_by_simulation;
