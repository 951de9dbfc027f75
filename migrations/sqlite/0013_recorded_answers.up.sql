-- What requests of tools were answered, sealed under their organisation's key, for simulations of the same requests.
-- The digest of a request is keyed, so that nobody sees what was asked. A newer answer takes the place of the one before,
-- and all go when their time is over.

CREATE TABLE recorded_answers (
    organization TEXT NOT NULL,
    tool         TEXT NOT NULL,
    request      BLOB NOT NULL,
    sealed       BLOB NOT NULL,
    heard_at     INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, tool, request),
    FOREIGN KEY (organization, tool) REFERENCES tools (organization, tool) ON DELETE CASCADE
) STRICT;

CREATE INDEX recorded_answers_by_age ON recorded_answers (organization, tool, heard_at, request);
CREATE INDEX recorded_answers_by_expiry ON recorded_answers (expires_at);
