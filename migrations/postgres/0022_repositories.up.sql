-- The refs and packs of the git repositories, whose packs are in the object store. The generation counts the changes. The lease of
-- `holder` protects a change; its fence refuses that of an earlier holder.
CREATE TABLE repositories (
    organization TEXT COLLATE "C" PRIMARY KEY REFERENCES organizations,
    generation   BIGINT NOT NULL,
    contents     TEXT NOT NULL,
    fence        BIGINT NOT NULL,
    holder       TEXT COLLATE "C",
    expires_at   BIGINT NOT NULL
);
