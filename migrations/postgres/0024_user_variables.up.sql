-- The variables of users, which their runs receive. All values are sealed.
CREATE TABLE user_variables (
    organization TEXT COLLATE "C" NOT NULL,
    account      TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    is_sensitive BIGINT NOT NULL CHECK (is_sensitive IN (0, 1)),
    sealed       BYTEA NOT NULL,
    key_id       TEXT COLLATE "C" NOT NULL,
    updated_by   TEXT COLLATE "C" NOT NULL,
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (organization, account, name),
    FOREIGN KEY (organization, account) REFERENCES members ON DELETE CASCADE
);
