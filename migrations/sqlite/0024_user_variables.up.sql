-- The variables of users, which their runs receive. All values are sealed.
CREATE TABLE user_variables (
    organization TEXT NOT NULL,
    account      TEXT NOT NULL,
    name         TEXT NOT NULL,
    is_sensitive INTEGER NOT NULL CHECK (is_sensitive IN (0, 1)),
    sealed       BLOB NOT NULL,
    key_id       TEXT NOT NULL,
    updated_by   TEXT NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, account, name),
    FOREIGN KEY (organization, account) REFERENCES members ON DELETE CASCADE
) STRICT;
