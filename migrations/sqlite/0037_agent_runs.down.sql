DROP TABLE human_requests;
DROP TABLE agent_run_steps;
DROP TABLE agent_runs;
