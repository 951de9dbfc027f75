-- Tools with their tags and variables.

CREATE TABLE tools (
    organization TEXT NOT NULL REFERENCES organizations,
    tool         TEXT NOT NULL,
    sequence     INTEGER NOT NULL,
    name         TEXT NOT NULL,
    description  TEXT NOT NULL,
    tags         TEXT NOT NULL,
    deprecated   INTEGER NOT NULL,
    creator      TEXT NOT NULL,
    updated_by   TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, tool)
) STRICT;

CREATE UNIQUE INDEX tools_live_name ON tools (organization, name) WHERE deprecated = 0;
-- Pages of lists follow the sequence, whatever the clock did.
CREATE UNIQUE INDEX tools_by_sequence ON tools (organization, sequence);

-- The tags of a tool, for lists that are filtered by them.
CREATE TABLE tool_tags (
    organization TEXT NOT NULL,
    tool         TEXT NOT NULL,
    key          TEXT NOT NULL,
    value        TEXT,
    PRIMARY KEY (organization, tool, key),
    FOREIGN KEY (organization, tool) REFERENCES tools
) STRICT;

CREATE INDEX tool_tags_by_key ON tool_tags (organization, key);

-- Variables of tools. All values are sealed.
CREATE TABLE envvars (
    organization TEXT NOT NULL,
    tool         TEXT NOT NULL,
    name         TEXT NOT NULL,
    is_secret    INTEGER NOT NULL,
    sealed       BLOB NOT NULL,
    key_id       TEXT NOT NULL,
    creator      TEXT NOT NULL,
    updated_by   TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, tool, name),
    FOREIGN KEY (organization, tool) REFERENCES tools
) STRICT;
