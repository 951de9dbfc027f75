-- The refs and packs of the git repositories, whose packs are in the object store. The generation counts the changes. The lease of
-- `holder` protects a change; its fence refuses that of an earlier holder.
CREATE TABLE repositories (
    organization TEXT PRIMARY KEY REFERENCES organizations,
    generation   INTEGER NOT NULL,
    contents     TEXT NOT NULL,
    fence        INTEGER NOT NULL,
    holder       TEXT,
    expires_at   INTEGER NOT NULL
) STRICT;
