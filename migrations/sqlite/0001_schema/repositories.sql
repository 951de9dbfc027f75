-- Git repositories that servers share.

-- Refs and packs. The packs are in the object store. The generation counts the changes. The lease of `holder` protects a change, and
-- its fence refuses that of an earlier holder.
CREATE TABLE repositories (
    organization TEXT PRIMARY KEY REFERENCES organizations,
    generation   INTEGER NOT NULL,
    contents     TEXT NOT NULL,
    fence        INTEGER NOT NULL,
    holder       TEXT,
    expires_at   INTEGER NOT NULL
) STRICT;

-- Packs that a server or a check found missing or damaged in the object store. A server that has one stores it again.
CREATE TABLE damaged_packs (
    organization TEXT NOT NULL REFERENCES organizations,
    pack         TEXT NOT NULL,
    PRIMARY KEY (organization, pack)
) STRICT;
