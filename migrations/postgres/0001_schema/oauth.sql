-- The authorization server for MCP clients.

-- Clients that registered themselves. Clients with a document of their own have no row.
CREATE TABLE oauth_clients (
    client_id     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name          TEXT COLLATE "C" NOT NULL,
    redirect_uris TEXT COLLATE "C" NOT NULL,
    -- The address that registered the client, and of IPv6 its network.
    address       TEXT COLLATE "C" NOT NULL,
    created_at    BIGINT NOT NULL
);

CREATE INDEX oauth_clients_by_creation ON oauth_clients (created_at);
CREATE INDEX oauth_clients_by_address ON oauth_clients (address, created_at);

-- Users who have authorised a client that registered itself, each with the last time.
CREATE TABLE oauth_client_uses (
    client_id    TEXT COLLATE "C" NOT NULL REFERENCES oauth_clients ON DELETE CASCADE,
    organization TEXT COLLATE "C" NOT NULL,
    account      TEXT COLLATE "C" NOT NULL,
    used_at      BIGINT NOT NULL,
    PRIMARY KEY (organization, account, client_id),
    FOREIGN KEY (organization, account) REFERENCES members ON DELETE CASCADE
);

CREATE INDEX oauth_client_uses_by_client ON oauth_client_uses (client_id);
CREATE INDEX oauth_client_uses_by_time ON oauth_client_uses (used_at);

-- Authorisations of clients by users, each for one agent at the URL of its MCP endpoint, which another agent can get later. An
-- authorisation begins with a code, which is used once. It ends with the API key that the user signed in with.
CREATE TABLE oauth_grants (
    grant_id        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    organization    TEXT COLLATE "C" NOT NULL,
    account         TEXT COLLATE "C" NOT NULL,
    api_key_id      TEXT COLLATE "C" NOT NULL REFERENCES api_keys ON DELETE CASCADE,
    client_id       TEXT COLLATE "C" NOT NULL,
    redirect_uri    TEXT COLLATE "C" NOT NULL,
    agent           TEXT COLLATE "C" NOT NULL,
    resource        TEXT COLLATE "C" NOT NULL,
    challenge       TEXT COLLATE "C" NOT NULL,
    code_hash       BYTEA NOT NULL UNIQUE,
    code_expires_at BIGINT NOT NULL,
    code_used_at    BIGINT,
    created_at      BIGINT NOT NULL,
    expires_at      BIGINT NOT NULL,
    FOREIGN KEY (organization, account) REFERENCES members ON DELETE CASCADE
);

CREATE INDEX oauth_grants_by_user ON oauth_grants (organization, account, created_at);
CREATE INDEX oauth_grants_by_key ON oauth_grants (api_key_id);
CREATE INDEX oauth_grants_by_expiry ON oauth_grants (expires_at);

-- Access tokens and refresh tokens. A refresh token that was used stays, so that a second use is noticed.
CREATE TABLE oauth_tokens (
    token_hash BYTEA NOT NULL PRIMARY KEY,
    grant_id   TEXT COLLATE "C" NOT NULL REFERENCES oauth_grants ON DELETE CASCADE,
    kind       TEXT COLLATE "C" NOT NULL CHECK (kind IN ('access', 'refresh')),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT
);

CREATE INDEX oauth_tokens_by_grant ON oauth_tokens (grant_id, created_at);
CREATE INDEX oauth_tokens_by_expiry ON oauth_tokens (expires_at);
