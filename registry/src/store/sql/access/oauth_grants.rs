//! Authorisations of OAuth clients: a code, its exchange for tokens, and their renewal.
//!
//! When a code is used a second time, or a refresh token some seconds after its first use, one of both uses was by a thief. The
//! authorisation with all of its tokens is deleted then.

use super::handle::Access;
use super::oauth_tokens::{Kind, announce_revocation, hash_oauth_secret, insert_tokens, new_tokens};
use crate::access::{AuthorizationTerms, CODE_LIFETIME, IssuedAccess, OauthSecret, Principal, REFRESH_GRACE, Refresh};
use crate::error::Result;
use crate::kit::account::OrganizationId;
use crate::kit::ids::AgentId;
use crate::kit::random;
use crate::store::changes::{Change, ChangeKind};
use crate::store::database::{Connection, Query, Row};
use crate::store::sql::kit::row::{get, read_optional_timestamp, read_timestamp};
use crate::tools::SecretValue;

/// Authorisations of one user: each client on each machine for each MCP endpoint. A new one replaces the oldest.
const GRANTS_PER_USER_MAX: u32 = 200;
/// Authorisations that are deleted with one new one. Bounds the commit.
const DELETED_MAX: u32 = 256;
/// Characters of the id of an authorisation, which carry 130 bits.
const ID_CHARACTERS: usize = 22;

const INSERT: &str =
    "INSERT INTO oauth_grants (grant_id, organization, account, api_key_id, client_id, redirect_uri, resource,
        agent, challenge, code_hash, code_expires_at, created_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $11)";

const DELETE_OLDEST: &str = "DELETE FROM oauth_grants WHERE grant_id IN (SELECT grant_id FROM oauth_grants
    WHERE organization = $1 AND account = $2 ORDER BY created_at DESC, grant_id LIMIT $4 OFFSET $3)";

const FIND_CODE: &str = "SELECT g.* FROM oauth_grants g JOIN api_keys k ON k.api_key_id = g.api_key_id
    WHERE g.code_hash = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2)";

const USE_CODE: &str = "UPDATE oauth_grants SET code_used_at = $2 WHERE grant_id = $1 AND code_used_at IS NULL";

const FIND_REFRESH: &str = "SELECT g.grant_id, g.client_id, g.resource, t.used_at, t.expires_at AS refresh_ends_at
    FROM oauth_tokens t JOIN oauth_grants g ON g.grant_id = t.grant_id
    JOIN api_keys k ON k.api_key_id = g.api_key_id
    WHERE t.token_hash = $1 AND t.kind = 'refresh' AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2)";

const USE_REFRESH: &str = "UPDATE oauth_tokens SET used_at = $2 WHERE token_hash = $1 AND used_at IS NULL";

const DELETE_GRANTS_OF_AGENT: &str = "DELETE FROM oauth_grants WHERE organization = $1 AND agent = $2
    RETURNING organization, account";

impl Access {
    /// Authorises a client to act for a user, who signed in with an API key, at an agent. Returns the code. `None` for a user without a
    /// key.
    pub async fn authorize_client(
        &self,
        user: &Principal,
        agent: &AgentId,
        terms: AuthorizationTerms,
    ) -> Result<Option<SecretValue>> {
        let Some(key) = user.key.as_ref().map(|key| key.id.clone()) else { return Ok(None) };
        let (code, now) = (OauthSecret::Code.generate(), self.store.0.clock.now());
        let (hash, user, agent) = (hash_oauth_secret(&self.store.0.keys, code.expose()), user.clone(), agent.clone());
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    let (organization, id) = (user.organization.as_str(), user.account.as_str());
                    let oldest = Query::new(DELETE_OLDEST).bind(organization).bind(id);
                    if oldest.bind(GRANTS_PER_USER_MAX - 1).bind(DELETED_MAX).execute(&mut *connection).await? > 0 {
                        connection.announce(Change::of_user(ChangeKind::Rights, &user.organization, &user.account));
                    }
                    let query = Query::new(INSERT).bind(random::base62(ID_CHARACTERS)).bind(organization).bind(id);
                    let query =
                        query.bind(key.as_str()).bind(terms.client_id).bind(terms.redirect_uri.unwrap_or_default());
                    let query = query
                        .bind(terms.resource)
                        .bind(agent.as_str())
                        .bind(terms.challenge.as_str())
                        .bind(hash.to_vec());
                    let query = query.bind(now.after(CODE_LIFETIME).as_milliseconds()).bind(now.as_milliseconds());
                    query.execute(connection).await?;
                    Ok(())
                })
            })
            .await?;
        Ok(Some(code))
    }

    /// Exchanges a code for tokens. `None` unless the code is valid and the terms are those of its authorisation. A code that was
    /// used before ends the authorisation.
    pub async fn exchange_code(&self, code: &str, terms: AuthorizationTerms) -> Result<Option<IssuedAccess>> {
        if !OauthSecret::Code.is(code) {
            return Ok(None);
        }
        let (hash, now) = (hash_oauth_secret(&self.store.0.keys, code), self.store.0.clock.now());
        let tokens = new_tokens(&self.store.0.keys, now);
        let issued = tokens.issued.clone();
        let exchanged = self.store.write(move |connection| {
            Box::pin(async move {
                let query = Query::new(FIND_CODE).bind(hash.to_vec()).bind(now.as_milliseconds());
                let Some(row) = query.fetch_optional(&mut *connection).await? else { return Ok(false) };
                let id: String = get(&row, "grant_id")?;
                if read_optional_timestamp(&row, "code_used_at")?.is_some() {
                    return end(connection, &id).await;
                }
                if read_timestamp(&row, "code_expires_at")? <= now || !are_terms(&row, &terms)? {
                    return Ok(false);
                }
                let used = Query::new(USE_CODE).bind(id.as_str()).bind(now.as_milliseconds());
                match used.execute(&mut *connection).await? {
                    0 => end(connection, &id).await,
                    _ => insert_tokens(connection, &id, &tokens).await.map(|()| true),
                }
            })
        });
        Ok(exchanged.await?.then_some(issued))
    }

    /// Exchanges a refresh token for new tokens. `None` unless it is valid. A refresh token that was used before ends the
    /// authorisation, unless its client uses it again within [`REFRESH_GRACE`].
    pub async fn refresh_access(&self, refresh: Refresh<'_>) -> Result<Option<IssuedAccess>> {
        if !OauthSecret::Refresh.is(refresh.refresh_token) {
            return Ok(None);
        }
        let (hash, now) = (hash_oauth_secret(&self.store.0.keys, refresh.refresh_token), self.store.0.clock.now());
        let tokens = new_tokens(&self.store.0.keys, now);
        let issued = tokens.issued.clone();
        let (client, resource) = (refresh.client_id.to_owned(), refresh.resource);
        let renewed = self.store.write(move |connection| {
            Box::pin(async move {
                let query = Query::new(FIND_REFRESH).bind(hash.to_vec()).bind(now.as_milliseconds());
                let Some(row) = query.fetch_optional(&mut *connection).await? else { return Ok(false) };
                let id: String = get(&row, "grant_id")?;
                let is_same = get::<&str>(&row, "client_id")? == client
                    && resource.is_none_or(|resource| get::<&str>(&row, "resource").is_ok_and(|its| its == resource));
                let used_at = read_optional_timestamp(&row, "used_at")?;
                let is_late = used_at.is_some_and(|used_at| used_at.after(REFRESH_GRACE) <= now);
                if is_late || used_at.is_some() && !is_same {
                    return end(connection, &id).await;
                }
                if read_timestamp(&row, "refresh_ends_at")? <= now || !is_same {
                    return Ok(false);
                }
                let used = Query::new(USE_REFRESH).bind(hash.to_vec()).bind(now.as_milliseconds());
                // Another server may use it at the same time, and may end the authorisation.
                if used_at.is_none() && used.execute(&mut *connection).await? == 0 && !exists(connection, &id).await? {
                    return Ok(false);
                }
                insert_tokens(connection, &id, &tokens).await.map(|()| true)
            })
        });
        Ok(renewed.await?.then_some(issued))
    }

    /// Revokes a token of a client, within a second on all servers: a refresh token with its whole authorisation, an access token
    /// alone. A token that does not exist, or of another client, is left as it is.
    pub async fn revoke_access(&self, token: &str, client_id: &str) -> Result<()> {
        let Some(kind) = Kind::of(token) else { return Ok(()) };
        let (hash, client) = (hash_oauth_secret(&self.store.0.keys, token).to_vec(), client_id.to_owned());
        let statement = match kind {
            Kind::Access => {
                "DELETE FROM oauth_tokens WHERE token_hash = $1 AND kind = 'access'
                    AND grant_id IN (SELECT grant_id FROM oauth_grants WHERE client_id = $2)
                    RETURNING (SELECT organization FROM oauth_grants g WHERE g.grant_id = oauth_tokens.grant_id) AS organization,
                        (SELECT account FROM oauth_grants g WHERE g.grant_id = oauth_tokens.grant_id) AS account"
            }
            Kind::Refresh => {
                "DELETE FROM oauth_grants WHERE client_id = $2
                    AND grant_id IN (SELECT grant_id FROM oauth_tokens WHERE token_hash = $1 AND kind = 'refresh')
                    RETURNING organization, account"
            }
        };
        let query = Query::new(statement).bind(hash).bind(client);
        self.store.write(move |connection| Box::pin(async move { revoke(connection, query).await })).await
    }

    /// Deletes authorisations, tokens and registered clients whose time is over, an hour later: clocks of servers differ. Returns
    /// their number.
    pub async fn delete_expired_authorizations(&self) -> Result<u64> {
        self.store
            .write(|connection| {
                Box::pin(async move {
                    let mut deleted = 0;
                    for statement in [
                        "DELETE FROM oauth_tokens WHERE expires_at <= {now} - 3600000",
                        "DELETE FROM oauth_grants WHERE expires_at <= {now} - 3600000",
                        "DELETE FROM oauth_client_uses WHERE used_at <= {now} - 7776000000",
                        "DELETE FROM oauth_clients WHERE created_at <= {now} - 86400000
                        AND client_id NOT IN (SELECT client_id FROM oauth_client_uses)",
                    ] {
                        deleted += Query::new(statement).execute(&mut *connection).await?;
                    }
                    Ok(deleted)
                })
            })
            .await
    }
}

/// Whether an authorisation has not ended.
async fn exists(connection: &mut Connection, id: &str) -> Result<bool> {
    let query = Query::new("SELECT grant_id FROM oauth_grants WHERE grant_id = $1").bind(id);
    Ok(query.fetch_optional(&mut *connection).await?.is_some())
}

/// Ends an authorisation of which a secret was used twice. Returns that no tokens were issued.
async fn end(connection: &mut Connection, id: &str) -> Result<bool> {
    let delete = "DELETE FROM oauth_grants WHERE grant_id = $1 RETURNING organization, account";
    revoke(connection, Query::new(delete).bind(id)).await?;
    Ok(false)
}

/// Ends the authorisations of clients for an agent that is deleted.
pub async fn revoke_grants_of_agent(
    connection: &mut Connection,
    organization: &OrganizationId,
    agent: &AgentId,
) -> Result<()> {
    let delete = Query::new(DELETE_GRANTS_OF_AGENT).bind(organization.as_str()).bind(agent.as_str());
    revoke(connection, delete).await
}

/// Deletes authorisations or tokens with a statement that returns whose they were.
async fn revoke(connection: &mut Connection, delete: Query) -> Result<()> {
    for row in delete.fetch_all(&mut *connection).await? {
        announce_revocation(connection, &row)?;
    }
    Ok(())
}

fn are_terms(row: &Row, terms: &AuthorizationTerms) -> Result<bool> {
    let is_same_uri = match &terms.redirect_uri {
        Some(uri) => get::<&str>(row, "redirect_uri")? == uri,
        None => true,
    };
    Ok(is_same_uri
        && get::<&str>(row, "client_id")? == terms.client_id
        && get::<&str>(row, "resource")? == terms.resource
        && get::<&str>(row, "challenge")? == terms.challenge.as_str())
}
