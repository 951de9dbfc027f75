DROP TABLE master_key;
DROP TABLE cancellations;
ALTER TABLE builds DROP COLUMN boot;
ALTER TABLE tool_leases DROP COLUMN boot;
DROP TABLE nodes;
