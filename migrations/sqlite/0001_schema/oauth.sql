-- The authorization server for MCP clients.

-- Clients that registered themselves. Clients with a document of their own have no row.
CREATE TABLE oauth_clients (
    client_id     TEXT NOT NULL PRIMARY KEY,
    name          TEXT NOT NULL,
    redirect_uris TEXT NOT NULL,
    -- The address that registered the client, and of IPv6 its network.
    address       TEXT NOT NULL,
    created_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX oauth_clients_by_creation ON oauth_clients (created_at);
CREATE INDEX oauth_clients_by_address ON oauth_clients (address, created_at);

-- Users who have authorised a client that registered itself, each with the last time.
CREATE TABLE oauth_client_uses (
    client_id    TEXT NOT NULL REFERENCES oauth_clients ON DELETE CASCADE,
    organization TEXT NOT NULL,
    account      TEXT NOT NULL,
    used_at      INTEGER NOT NULL,
    PRIMARY KEY (organization, account, client_id),
    FOREIGN KEY (organization, account) REFERENCES members ON DELETE CASCADE
) STRICT;

CREATE INDEX oauth_client_uses_by_client ON oauth_client_uses (client_id);
CREATE INDEX oauth_client_uses_by_time ON oauth_client_uses (used_at);

-- Authorisations of clients by users, each for one agent at the URL of its MCP endpoint, which another agent can get later. An
-- authorisation begins with a code, which is used once. It ends with the API key that the user signed in with.
CREATE TABLE oauth_grants (
    grant_id        TEXT NOT NULL PRIMARY KEY,
    organization    TEXT NOT NULL,
    account         TEXT NOT NULL,
    api_key_id      TEXT NOT NULL REFERENCES api_keys ON DELETE CASCADE,
    client_id       TEXT NOT NULL,
    redirect_uri    TEXT NOT NULL,
    agent           TEXT NOT NULL,
    resource        TEXT NOT NULL,
    challenge       TEXT NOT NULL,
    code_hash       BLOB NOT NULL UNIQUE,
    code_expires_at INTEGER NOT NULL,
    code_used_at    INTEGER,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER NOT NULL,
    FOREIGN KEY (organization, account) REFERENCES members ON DELETE CASCADE
) STRICT;

CREATE INDEX oauth_grants_by_user ON oauth_grants (organization, account, created_at);
CREATE INDEX oauth_grants_by_key ON oauth_grants (api_key_id);
CREATE INDEX oauth_grants_by_expiry ON oauth_grants (expires_at);

-- Access tokens and refresh tokens. A refresh token that was used stays, so that a second use is noticed.
CREATE TABLE oauth_tokens (
    token_hash BLOB NOT NULL PRIMARY KEY,
    grant_id   TEXT NOT NULL REFERENCES oauth_grants ON DELETE CASCADE,
    kind       TEXT NOT NULL CHECK (kind IN ('access', 'refresh')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at    INTEGER
) STRICT;

CREATE INDEX oauth_tokens_by_grant ON oauth_tokens (grant_id, created_at);
CREATE INDEX oauth_tokens_by_expiry ON oauth_tokens (expires_at);
