-- The order in which an organisation's tools were made, which pages of lists follow whatever the clock did.

ALTER TABLE tools ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;

UPDATE tools SET sequence = rowid;

CREATE UNIQUE INDEX tools_by_sequence ON tools (organization, sequence);

DROP INDEX tools_by_age;
