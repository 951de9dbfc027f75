-- The search of memories in the Library.

-- The words and the vector of each memory. A deleted memory keeps its row, without both, as long as its item stays.
CREATE TABLE library_index (
    organization TEXT COLLATE "C" NOT NULL,
    item         TEXT COLLATE "C" NOT NULL,
    owner        TEXT COLLATE "C" NOT NULL,
    -- The application. Empty without one.
    app          TEXT COLLATE "C" NOT NULL,
    -- `library_scopes.changes` after the last change of this row.
    change       BIGINT NOT NULL CHECK (change > 0),
    -- Words with spaces between them, as in the full-text index of the history.
    words        TEXT COLLATE "C" NOT NULL,
    -- Importance in millionths.
    importance   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    -- The model that made the vector. Empty before that, null for a deleted memory.
    model        TEXT COLLATE "C",
    -- Numbers of 32 bits, little-endian. Null if the model makes no vector of the text.
    vector       BYTEA,
    PRIMARY KEY (organization, item),
    FOREIGN KEY (organization, item) REFERENCES library_items ON DELETE CASCADE
);

-- Finds the changes that a server has not read yet.
CREATE UNIQUE INDEX library_index_by_change ON library_index (organization, owner, app, change);
-- Finds the vectors that the present model has not made.
CREATE INDEX library_index_by_model ON library_index (organization, model, item) WHERE model IS NOT NULL;

-- Counts the changes of the index within a scope.
CREATE TABLE library_scopes (
    organization TEXT COLLATE "C" NOT NULL REFERENCES organizations,
    owner        TEXT COLLATE "C" NOT NULL,
    app          TEXT COLLATE "C" NOT NULL,
    changes      BIGINT NOT NULL CHECK (changes > 0),
    PRIMARY KEY (organization, owner, app)
);

-- The memories of an organisation, from which a model can learn.
CREATE TABLE library_corpora (
    organization TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES organizations,
    -- Memories that were created or changed.
    changes      BIGINT NOT NULL CHECK (changes > 0),
    -- The number of changes when the model last learned, and when all vectors were last complete.
    learned      BIGINT NOT NULL,
    embedded     BIGINT NOT NULL,
    -- The model of these vectors.
    model        TEXT COLLATE "C" NOT NULL
);
