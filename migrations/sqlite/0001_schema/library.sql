-- What agents and users keep in the Library.

-- A deleted item stays for a while, and frees its key.
CREATE TABLE library_items (
    organization  TEXT NOT NULL REFERENCES organizations,
    item          TEXT NOT NULL,
    family        TEXT NOT NULL
        CHECK (family IN ('memory', 'rules', 'skills', 'tasks', 'prompts', 'artifacts', 'preferences')),
    -- The account of the owner.
    owner         TEXT NOT NULL,
    -- The application. Empty without one.
    app           TEXT NOT NULL,
    -- Unique among the items of a family that an owner has in an application. Null in families without keys.
    key           TEXT,
    label         TEXT,
    tags          TEXT NOT NULL,
    body          TEXT NOT NULL,
    revision      INTEGER NOT NULL CHECK (revision > 0),
    -- The run, the agent and the workflow that wrote the present revision.
    invocation    TEXT,
    agent         TEXT,
    workflow      TEXT,
    is_trusted    INTEGER NOT NULL CHECK (is_trusted IN (0, 1)),
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    deleted_at    INTEGER,
    -- The time at which the server has to do something with the item: the next time of a task.
    due_at        INTEGER,
    -- The bytes of the field that lists leave out, and the field as JSON. The field is the last column, so that lists read none of it.
    content_bytes INTEGER NOT NULL,
    content       TEXT,
    PRIMARY KEY (organization, item)
) STRICT;

CREATE UNIQUE INDEX library_items_live_key ON library_items (organization, family, owner, app, key)
    WHERE deleted_at IS NULL;
-- Items of an owner by age, with which their ids begin.
CREATE INDEX library_items_by_owner ON library_items (organization, family, owner, app, item) WHERE deleted_at IS NULL;
CREATE INDEX library_items_deleted ON library_items (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX library_items_due ON library_items (due_at) WHERE due_at IS NOT NULL;

-- Earlier revisions of skills and prompts, each as its update left it. They stay as long as their item, up to a number.
CREATE TABLE library_revisions (
    organization  TEXT NOT NULL,
    item          TEXT NOT NULL,
    revision      INTEGER NOT NULL CHECK (revision > 0),
    -- The owner of the item.
    owner         TEXT NOT NULL,
    body          TEXT NOT NULL,
    -- The run, the agent and the workflow that wrote the revision.
    invocation    TEXT,
    agent         TEXT,
    workflow      TEXT,
    is_trusted    INTEGER NOT NULL CHECK (is_trusted IN (0, 1)),
    written_at    INTEGER NOT NULL,
    content_bytes INTEGER NOT NULL,
    content       TEXT,
    PRIMARY KEY (organization, item, revision),
    FOREIGN KEY (organization, item) REFERENCES library_items ON DELETE CASCADE
) STRICT;

-- Users with whom the owner of an item shares it. They read it.
CREATE TABLE library_shares (
    organization TEXT NOT NULL,
    item         TEXT NOT NULL,
    account      TEXT NOT NULL,
    -- The family of the item, so that a list of one family reads no shares of others.
    family       TEXT NOT NULL,
    PRIMARY KEY (organization, account, family, item),
    FOREIGN KEY (organization, item) REFERENCES library_items ON DELETE CASCADE,
    FOREIGN KEY (organization, account) REFERENCES members ON DELETE CASCADE
) STRICT;

CREATE INDEX library_shares_by_item ON library_shares (organization, item);
