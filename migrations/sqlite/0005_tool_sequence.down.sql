CREATE INDEX tools_by_age ON tools (organization, created_at, tool);
DROP INDEX tools_by_sequence;
ALTER TABLE tools DROP COLUMN sequence;
