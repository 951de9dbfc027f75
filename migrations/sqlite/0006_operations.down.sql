ALTER TABLE versions DROP COLUMN bump;
DROP TABLE operation_runs;
DROP TABLE operations;
