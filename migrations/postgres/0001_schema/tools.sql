-- Tools with their tags and variables.

CREATE TABLE tools (
    organization TEXT COLLATE "C" NOT NULL REFERENCES organizations,
    tool         TEXT COLLATE "C" NOT NULL,
    sequence     BIGINT NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    description  TEXT COLLATE "C" NOT NULL,
    tags         TEXT COLLATE "C" NOT NULL,
    deprecated   BIGINT NOT NULL,
    creator      TEXT COLLATE "C" NOT NULL,
    updated_by   TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (organization, tool)
);

CREATE UNIQUE INDEX tools_live_name ON tools (organization, name) WHERE deprecated = 0;
-- Pages of lists follow the sequence, whatever the clock did.
CREATE UNIQUE INDEX tools_by_sequence ON tools (organization, sequence);

-- The tags of a tool, for lists that are filtered by them.
CREATE TABLE tool_tags (
    organization TEXT COLLATE "C" NOT NULL,
    tool         TEXT COLLATE "C" NOT NULL,
    key          TEXT COLLATE "C" NOT NULL,
    value        TEXT COLLATE "C",
    PRIMARY KEY (organization, tool, key),
    FOREIGN KEY (organization, tool) REFERENCES tools
);

CREATE INDEX tool_tags_by_key ON tool_tags (organization, key);

-- Variables of tools. All values are sealed.
CREATE TABLE envvars (
    organization TEXT COLLATE "C" NOT NULL,
    tool         TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    is_secret    BIGINT NOT NULL,
    sealed       BYTEA NOT NULL,
    key_id       TEXT COLLATE "C" NOT NULL,
    creator      TEXT COLLATE "C" NOT NULL,
    updated_by   TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (organization, tool, name),
    FOREIGN KEY (organization, tool) REFERENCES tools
);
