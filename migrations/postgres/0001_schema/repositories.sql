-- Git repositories that servers share.

-- Refs and packs. The packs are in the object store. The generation counts the changes. The lease of `holder` protects a change, and
-- its fence refuses that of an earlier holder.
CREATE TABLE repositories (
    organization TEXT COLLATE "C" PRIMARY KEY REFERENCES organizations,
    generation   BIGINT NOT NULL,
    contents     TEXT COLLATE "C" NOT NULL,
    fence        BIGINT NOT NULL,
    holder       TEXT COLLATE "C",
    expires_at   BIGINT NOT NULL
);

-- Packs that a server or a check found missing or damaged in the object store. A server that has one stores it again.
CREATE TABLE damaged_packs (
    organization TEXT COLLATE "C" NOT NULL REFERENCES organizations,
    pack         TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, pack)
);
