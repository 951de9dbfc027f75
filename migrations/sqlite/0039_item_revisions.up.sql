-- Earlier revisions of skills and prompts, each as its update left it. They stay as long as their item, up to a number.
CREATE TABLE library_revisions (
    organization TEXT NOT NULL,
    item         TEXT NOT NULL,
    revision     INTEGER NOT NULL CHECK (revision > 0),
    body         TEXT NOT NULL,
    -- The run, the agent and the workflow that wrote it.
    invocation   TEXT,
    agent        TEXT,
    workflow     TEXT,
    is_trusted   INTEGER NOT NULL CHECK (is_trusted IN (0, 1)),
    written_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, item, revision),
    FOREIGN KEY (organization, item) REFERENCES library_items ON DELETE CASCADE
) STRICT;

-- The task whose occurrence started a run. Null for other runs, and when the task has the end of its run.
ALTER TABLE agent_runs ADD COLUMN item TEXT;

-- Finds the runs whose end their task does not have yet.
CREATE INDEX agent_runs_of_items ON agent_runs (state) WHERE item IS NOT NULL;
