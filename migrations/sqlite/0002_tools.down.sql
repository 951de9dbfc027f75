DROP TABLE versions;
DROP TABLE builds;
DROP TABLE tool_leases;
DROP TABLE envvars;
DROP TABLE tool_tags;
DROP TABLE tools;
