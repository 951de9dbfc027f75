-- The families of the Library's tools that an agent has, in the draft and in the revision.
ALTER TABLE agents ADD COLUMN built_in_tools TEXT COLLATE "C" NOT NULL DEFAULT '{"disabled":[],"allowedFamilies":null}';
ALTER TABLE agent_revisions ADD COLUMN built_in_tools TEXT COLLATE "C" NOT NULL DEFAULT '{"disabled":[],"allowedFamilies":null}';

-- What agents and users keep in the Library. A deleted item stays for a while, and frees its key.
CREATE TABLE library_items (
    organization TEXT COLLATE "C" NOT NULL REFERENCES organizations,
    item         TEXT COLLATE "C" NOT NULL,
    family       TEXT COLLATE "C" NOT NULL
        CHECK (family IN ('memory', 'rules', 'skills', 'tasks', 'prompts', 'artifacts', 'preferences')),
    -- The account of the owner.
    owner        TEXT COLLATE "C" NOT NULL,
    -- Empty without an application.
    app          TEXT COLLATE "C" NOT NULL,
    -- Unique among the items of a family that an owner has in an application. Null in families without keys.
    key          TEXT COLLATE "C",
    label        TEXT COLLATE "C",
    tags         TEXT COLLATE "C" NOT NULL,
    body         TEXT COLLATE "C" NOT NULL,
    revision     BIGINT NOT NULL CHECK (revision > 0),
    -- The run, the agent and the workflow that wrote the present revision.
    invocation   TEXT COLLATE "C",
    agent        TEXT COLLATE "C",
    workflow     TEXT COLLATE "C",
    is_trusted   BIGINT NOT NULL CHECK (is_trusted IN (0, 1)),
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    deleted_at   BIGINT,
    -- The bytes of the field that lists leave out, and the field as JSON. It is behind the others, so that lists read none of it.
    content_bytes BIGINT NOT NULL,
    content      TEXT COLLATE "C",
    PRIMARY KEY (organization, item)
);

CREATE UNIQUE INDEX library_items_live_key ON library_items (organization, family, owner, app, key)
    WHERE deleted_at IS NULL;
-- The items of an owner by age, which their ids begin with.
CREATE INDEX library_items_by_owner ON library_items (organization, family, owner, app, item) WHERE deleted_at IS NULL;
CREATE INDEX library_items_deleted ON library_items (deleted_at) WHERE deleted_at IS NOT NULL;

-- Users with whom the owner of an item shares it. They read it.
CREATE TABLE library_shares (
    organization TEXT COLLATE "C" NOT NULL,
    item         TEXT COLLATE "C" NOT NULL,
    account      TEXT COLLATE "C" NOT NULL,
    -- That of the item, so that a list of one family reads no shares of others.
    family       TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, account, family, item),
    FOREIGN KEY (organization, item) REFERENCES library_items ON DELETE CASCADE,
    FOREIGN KEY (organization, account) REFERENCES members ON DELETE CASCADE
);

CREATE INDEX library_shares_by_item ON library_shares (organization, item);
