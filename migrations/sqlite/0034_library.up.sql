-- The families of the Library's tools that an agent has, in the draft and in the revision.
ALTER TABLE agents ADD COLUMN built_in_tools TEXT NOT NULL DEFAULT '{"disabled":[],"allowedFamilies":null}';
ALTER TABLE agent_revisions ADD COLUMN built_in_tools TEXT NOT NULL DEFAULT '{"disabled":[],"allowedFamilies":null}';

-- What agents and users keep in the Library. A deleted item stays for a while, and frees its key.
CREATE TABLE library_items (
    organization TEXT NOT NULL REFERENCES organizations,
    item         TEXT NOT NULL,
    family       TEXT NOT NULL
        CHECK (family IN ('memory', 'rules', 'skills', 'tasks', 'prompts', 'artifacts', 'preferences')),
    -- The account of the owner.
    owner        TEXT NOT NULL,
    -- Empty without an application.
    app          TEXT NOT NULL,
    -- Unique among the items of a family that an owner has in an application. Null in families without keys.
    key          TEXT,
    label        TEXT,
    tags         TEXT NOT NULL,
    body         TEXT NOT NULL,
    revision     INTEGER NOT NULL CHECK (revision > 0),
    -- The run, the agent and the workflow that wrote the present revision.
    invocation   TEXT,
    agent        TEXT,
    workflow     TEXT,
    is_trusted   INTEGER NOT NULL CHECK (is_trusted IN (0, 1)),
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    deleted_at   INTEGER,
    -- The bytes of the field that lists leave out, and the field as JSON. It is behind the others, so that lists read none of it.
    content_bytes INTEGER NOT NULL,
    content      TEXT,
    PRIMARY KEY (organization, item)
) STRICT;

CREATE UNIQUE INDEX library_items_live_key ON library_items (organization, family, owner, app, key)
    WHERE deleted_at IS NULL;
-- The items of an owner by age, which their ids begin with.
CREATE INDEX library_items_by_owner ON library_items (organization, family, owner, app, item) WHERE deleted_at IS NULL;
CREATE INDEX library_items_deleted ON library_items (deleted_at) WHERE deleted_at IS NOT NULL;

-- Users with whom the owner of an item shares it. They read it.
CREATE TABLE library_shares (
    organization TEXT NOT NULL,
    item         TEXT NOT NULL,
    account      TEXT NOT NULL,
    -- That of the item, so that a list of one family reads no shares of others.
    family       TEXT NOT NULL,
    PRIMARY KEY (organization, account, family, item),
    FOREIGN KEY (organization, item) REFERENCES library_items ON DELETE CASCADE,
    FOREIGN KEY (organization, account) REFERENCES members ON DELETE CASCADE
) STRICT;

CREATE INDEX library_shares_by_item ON library_shares (organization, item);
