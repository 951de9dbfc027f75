//! Access tokens and refresh tokens of OAuth clients.

use std::sync::Arc;

use super::handle::Access;
use crate::access::{ACCESS_LIFETIME, IssuedAccess, OauthSecret, Principal, REFRESH_LIFETIME, SignInKey};
use crate::error::Result;
use crate::kit::clock::Timestamp;
use crate::secrets::{KeyRing, compute_keyed_hash};
use crate::store::changes::{Change, ChangeKind};
use crate::store::database::{Connection, Query, Row};
use crate::store::sql::kit::row::{get, parse_column, read_optional_timestamp, read_timestamp};
use crate::store::token_cache::Checked;

/// Tokens of one authorisation. A renewal inserts two, and deletes the oldest. The used refresh tokens among them are those whose second
/// use is noticed.
const TOKENS_PER_GRANT_MAX: u32 = 64;
/// Tokens that one renewal deletes.
const DELETED_MAX: u32 = 64;

const FIND: &str =
    "SELECT g.organization, g.account, g.agent, g.resource, t.expires_at, m.role, r.grants, k.api_key_id,
        k.expires_at AS key_ends_at
    FROM oauth_tokens t
    JOIN oauth_grants g ON g.grant_id = t.grant_id
    JOIN members m ON m.organization = g.organization AND m.account = g.account
    JOIN api_keys k ON k.api_key_id = g.api_key_id AND k.revoked_at IS NULL
    LEFT JOIN roles r ON r.organization = m.organization AND r.name = m.role
    WHERE t.token_hash = $1 AND t.kind = 'access'";

const INSERT: &str =
    "INSERT INTO oauth_tokens (token_hash, grant_id, kind, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)";

const DELETE_OLDEST: &str = "DELETE FROM oauth_tokens WHERE token_hash IN (SELECT token_hash FROM oauth_tokens
    WHERE grant_id = $1 ORDER BY created_at DESC, token_hash LIMIT $3 OFFSET $2)";

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Access,
    Refresh,
}

/// Tokens to insert, and the secrets of which they are hashes.
pub(super) struct NewTokens {
    pub issued: IssuedAccess,
    access: [u8; 32],
    refresh: [u8; 32],
    now: Timestamp,
}

impl Kind {
    /// The kind of a token by its format.
    pub fn of(token: &str) -> Option<Self> {
        if OauthSecret::Access.is(token) {
            return Some(Self::Access);
        }
        OauthSecret::Refresh.is(token).then_some(Self::Refresh)
    }
}

impl Access {
    /// Returns the user for whom a client acts, with an access token for this resource. The result is cached for a second.
    pub async fn authenticate_access(&self, token: &str, resource: &str) -> Result<Option<Principal>> {
        if !OauthSecret::Access.is(token) {
            return Ok(None);
        }
        let hash = hash_oauth_secret(&self.store.0.keys, token);
        let checked = match self.store.0.kept.tokens.checked.get(&hash) {
            Some(checked) => Some(checked),
            None => self.look_up_access(hash).await?,
        };
        let checked = checked.filter(|checked| checked.resource.as_deref() == Some(resource));
        Ok(self.check_principal(checked))
    }

    async fn look_up_access(&self, hash: [u8; 32]) -> Result<Option<Checked>> {
        let read_start = self.store.0.kept.tokens.checked.read_start();
        let Some(row) = Query::new(FIND).bind(hash.to_vec()).fetch_optional(self.store.readers()).await? else {
            return Ok(None);
        };
        let grants = self.read_grants(&parse_column(&row, "role")?, &row)?;
        let key =
            SignInKey { id: parse_column(&row, "api_key_id")?, ends_at: read_optional_timestamp(&row, "key_ends_at")? };
        let expires_at = read_timestamp(&row, "expires_at")?;
        let expires_at = key.ends_at.map_or(expires_at, |end| end.min(expires_at));
        let (organization, account) = (parse_column(&row, "organization")?, parse_column(&row, "account")?);
        let principal = Principal {
            organization,
            account,
            grants,
            key: Some(key),
            agent: Some(parse_column(&row, "agent")?),
            address: None,
        };
        let resource: Arc<str> = get::<&str>(&row, "resource")?.into();
        let checked = Checked { principal, expires_at: Some(expires_at), resource: Some(resource) };
        self.store.0.kept.tokens.checked.insert_read(&read_start, hash, checked.clone());
        Ok(Some(checked))
    }
}

/// Returns the hash of a code or a token that is stored.
pub(super) fn hash_oauth_secret(keys: &KeyRing, secret: &str) -> [u8; 32] {
    compute_keyed_hash(&keys.derive("oauth"), secret.as_bytes())
}

pub(super) fn new_tokens(keys: &KeyRing, now: Timestamp) -> NewTokens {
    let (access_token, refresh_token) = (OauthSecret::Access.generate(), OauthSecret::Refresh.generate());
    let (access, refresh) =
        (hash_oauth_secret(keys, access_token.expose()), hash_oauth_secret(keys, refresh_token.expose()));
    NewTokens { issued: IssuedAccess { access_token, refresh_token }, access, refresh, now }
}

/// Inserts new tokens of an authorisation, which then lasts as long as its refresh token.
pub(super) async fn insert_tokens(connection: &mut Connection, grant: &str, new: &NewTokens) -> Result<()> {
    let oldest = Query::new(DELETE_OLDEST).bind(grant).bind(TOKENS_PER_GRANT_MAX - 2).bind(DELETED_MAX);
    let deleted = oldest.execute(&mut *connection).await?;
    let refresh_ends = new.now.after(REFRESH_LIFETIME);
    for (hash, kind, end) in
        [(&new.access, "access", new.now.after(ACCESS_LIFETIME)), (&new.refresh, "refresh", refresh_ends)]
    {
        let query = Query::new(INSERT).bind(hash.to_vec()).bind(grant).bind(kind);
        let query = query.bind(new.now.as_milliseconds()).bind(end.as_milliseconds());
        query.execute(&mut *connection).await?;
    }
    let update = "UPDATE oauth_grants SET expires_at = $2 WHERE grant_id = $1 RETURNING organization, account";
    let update = Query::new(update).bind(grant).bind(refresh_ends.as_milliseconds());
    match update.fetch_optional(&mut *connection).await? {
        Some(row) if deleted > 0 => announce_revocation(connection, &row),
        _ => Ok(()),
    }
}

/// Announces that tokens of the user in a row are not valid any more.
pub(super) fn announce_revocation(connection: &mut Connection, row: &Row) -> Result<()> {
    let (organization, account) = (parse_column(row, "organization")?, parse_column(row, "account")?);
    connection.announce(Change::of_user(ChangeKind::Rights, &organization, &account));
    Ok(())
}
