//! API keys: creating, listing and revoking them. Only a keyed hash of a key is stored.

use std::time::Duration;

use super::administrators::require_administrator;
use super::handle::Access;
use crate::access::{ApiKey, ApiKeyId, IssuedKey, NewApiKey, api_key};
use crate::error::{Error, Result};
use crate::kit::account::{AccountId, OrganizationId, UserId};
use crate::kit::clock::Timestamp;
use crate::kit::invalid_value::InvalidValue;
use crate::kit::page::{Page, Slice};
use crate::secrets::{KeyRing, compute_keyed_hash};
use crate::store::changes::{Change, ChangeKind};
use crate::store::database::{Connection, Query, Row};
use crate::store::sql::kit::counts::require_within;
use crate::store::sql::kit::row::{
    parse_column, parse_optional_column, read_optional_timestamp, read_timestamp, read_unsigned, to_signed,
};

/// Valid keys of one user: one per machine and purpose, and some more for rotation.
const KEYS_PER_USER_MAX: u64 = 50;
/// Latest expiry of a key. A key for longer use has no expiry.
const EXPIRY_MAX: Duration = Duration::from_hours(24 * 366 * 10);

/// Keys of the organisation `$1`, all of them or those of the user `$2`.
const LIST: &str =
    "SELECT * FROM api_keys WHERE organization = $1 AND (CAST($2 AS TEXT) IS NULL OR account = $2) AND sequence < $3
    ORDER BY sequence DESC LIMIT $4";

/// The highest position of a key in the organisation `$1`.
const MOST: &str = "SELECT keys_made AS most FROM organizations WHERE organization = $1";

const NEXT: &str = "UPDATE organizations SET keys_made = keys_made + 1 WHERE organization = $1 RETURNING keys_made";

/// Expired and revoked keys of one user that are still listed, for audits.
const INVALID_PER_USER_MAX: u32 = 200;

/// Keys of the user `$2` of the organisation `$1` that were revoked or expired at `$3`, except the newest `$4`.
macro_rules! old_invalid {
    ($action:literal) => {
        concat!(
            $action,
            " WHERE api_key_id IN (SELECT api_key_id FROM api_keys
                WHERE organization = $1 AND account = $2 AND (revoked_at IS NOT NULL OR expires_at <= $3)
                ORDER BY sequence DESC LIMIT 9223372036854775807 OFFSET $4)"
        )
    };
}

/// The input of [`insert_key`] besides the key itself.
pub(super) struct Insert<'a> {
    pub keys: &'a KeyRing,
    pub now: Timestamp,
    pub new: &'a NewApiKey,
}

impl Access {
    /// Creates a key for a user. Its secret cannot be read again.
    pub async fn create_api_key(&self, organization: &OrganizationId, new: NewApiKey) -> Result<IssuedKey> {
        let (keys, now) = (self.store.0.keys.clone(), self.store.0.clock.now());
        require_expiry(new.expires_at, now)?;
        let key = issue(organization, new.account.user());
        let (issued, keys_max) = (key.clone(), self.store.0.config.keys_max);
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    require_member(connection, &key.organization, &new.account).await?;
                    insert_key(connection, &key, Insert { keys: &keys, now, new: &new }).await?;
                    for limit in list_limits(&new.account, &key, keys_max) {
                        limit.check(connection, now).await?;
                    }
                    delete_old_invalid(connection, &key.organization, &new.account, now).await
                })
            })
            .await?;
        Ok(issued)
    }

    /// Lists keys of one user or of all users, newest first, including expired and revoked keys. [`Error::PageTokenUnknown`]
    /// for a token of another list.
    pub async fn list_api_keys(
        &self,
        organization: &OrganizationId,
        account: Option<&AccountId>,
        page: Page,
    ) -> Result<Slice<ApiKey>> {
        let list = ["keys", organization.as_str(), account.map_or("", AccountId::as_str)];
        let last = self.store.find_last_shown(organization, &list, page, MOST).await?.unwrap_or(u64::MAX);
        let query = Query::new(LIST).bind(organization.as_str()).bind(account.map(AccountId::as_str));
        let rows = query.bind(to_signed(last)).bind(i64::from(page.limit) + 1).fetch_all(self.store.readers()).await?;
        let keys = rows.iter().map(|row| Ok((read(row)?, read_unsigned(row, "sequence")?))).collect::<Result<_>>()?;
        let token = |(_, sequence): &(ApiKey, u64)| self.store.page_tokens().seal(&list, *sequence);
        Ok(Slice::cut(keys, page, token).map(|(key, _)| key))
    }

    /// Revokes a key, its tokens and the authorisations of clients that were given with it: immediately in this process, within a second in other processes. With an `owner`,
    /// only a key of that user is found. A repeated revocation changes nothing.
    pub async fn revoke_api_key(
        &self,
        organization: &OrganizationId,
        owner: Option<&AccountId>,
        id: &ApiKeyId,
    ) -> Result<()> {
        let (organization, owner, id) = (organization.clone(), owner.cloned(), id.clone());
        let revocation = Revocation { organization, owner, id, now: self.store.0.clock.now() };
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    revocation.apply(connection).await?;
                    require_administrator(connection, &revocation.organization, revocation.now).await
                })
            })
            .await
    }
}

/// Returns the hash of a key that is stored.
pub(super) fn hash_api_key(keys: &KeyRing, api_key: &str) -> [u8; 32] {
    compute_keyed_hash(&keys.derive("api keys"), api_key.as_bytes())
}

pub(super) fn issue(organization: &OrganizationId, user: UserId) -> IssuedKey {
    let (api_key_id, api_key) = api_key::generate();
    IssuedKey { organization: organization.clone(), user, api_key_id, api_key }
}

pub(super) async fn insert_key(connection: &mut Connection, key: &IssuedKey, insert: Insert<'_>) -> Result<()> {
    let Insert { keys, now, new } = insert;
    let next: i64 =
        Query::new(NEXT).bind(key.organization.as_str()).fetch_column("keys_made", &mut *connection).await?;
    Query::new(
        "INSERT INTO api_keys (api_key_id, organization, account, key_hash, created_at, name, expires_at, sequence)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(key.api_key_id.as_str())
    .bind(key.organization.as_str())
    .bind(new.account.as_str())
    .bind(hash_api_key(keys, key.api_key.expose()).to_vec())
    .bind(now.as_milliseconds())
    .bind(new.name.as_ref().map(|name| name.as_str()))
    .bind(new.expires_at.map(Timestamp::as_milliseconds))
    .bind(next)
    .execute(connection)
    .await?;
    Ok(())
}

fn require_expiry(expires_at: Option<Timestamp>, now: Timestamp) -> Result<()> {
    let fits = expires_at.is_none_or(|end| end > now && end <= now.after(EXPIRY_MAX));
    let rule = "must lie in the future, and at most ten years ahead";
    if fits { Ok(()) } else { Err(InvalidValue::new("the key's expiry", rule).into()) }
}

async fn require_member(connection: &mut Connection, organization: &OrganizationId, account: &AccountId) -> Result<()> {
    let query = Query::new("SELECT account FROM members WHERE organization = $1 AND account = $2");
    let found = query.bind(organization.as_str()).bind(account.as_str()).fetch_optional(connection).await?;
    found.map(|_| ()).ok_or_else(|| Error::UserUnknown { user: account.user() })
}

/// A limit on the valid keys of an organisation, or of one user.
struct Limit<'a> {
    organization: &'a str,
    account: Option<&'a str>,
    keys_max: u64,
    what: &'static str,
}

fn list_limits<'a>(account: &'a AccountId, key: &'a IssuedKey, keys_max: u32) -> [Limit<'a>; 2] {
    let organization = key.organization.as_str();
    let per_user = (Some(account.as_str()), KEYS_PER_USER_MAX, "valid keys of a user");
    let per_organization = (None, keys_max.into(), "valid keys of an organization");
    [per_user, per_organization].map(|(account, keys_max, what)| Limit { organization, account, keys_max, what })
}

impl Limit<'_> {
    /// Fails when the keys, including a new key, exceed the limit.
    async fn check(&self, connection: &mut Connection, now: Timestamp) -> Result<()> {
        let count = "SELECT count(*) AS keys FROM api_keys WHERE organization = $1 AND (CAST($2 AS TEXT) IS NULL OR account = $2)
            AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)";
        let query = Query::new(count).bind(self.organization).bind(self.account);
        require_within(
            self.keys_max,
            query.bind(now.as_milliseconds()).fetch_column("keys", connection).await?,
            self.what,
        )
    }
}

/// Deletes old invalid keys of the user, so that creating and revoking keys does not fill the disk.
async fn delete_old_invalid(
    connection: &mut Connection,
    organization: &OrganizationId,
    account: &AccountId,
    now: Timestamp,
) -> Result<()> {
    for statement in [old_invalid!("DELETE FROM tokens"), old_invalid!("DELETE FROM api_keys")] {
        let query = Query::new(statement).bind(organization.as_str()).bind(account.as_str());
        query.bind(now.as_milliseconds()).bind(INVALID_PER_USER_MAX).execute(&mut *connection).await?;
    }
    Ok(())
}

struct Revocation {
    organization: OrganizationId,
    owner: Option<AccountId>,
    id: ApiKeyId,
    now: Timestamp,
}

impl Revocation {
    async fn apply(&self, connection: &mut Connection) -> Result<()> {
        let update = "UPDATE api_keys SET revoked_at = coalesce(revoked_at, $4)
            WHERE organization = $1 AND api_key_id = $2 AND (CAST($3 AS TEXT) IS NULL OR account = $3)
            RETURNING account";
        let query = Query::new(update).bind(self.organization.as_str()).bind(self.id.as_str());
        let query = query.bind(self.owner.as_ref().map(|owner| owner.as_str())).bind(self.now.as_milliseconds());
        let revoked = query.fetch_optional(&mut *connection).await?.ok_or(Error::NotFound { what: "api key" })?;
        let account = parse_column(&revoked, "account")?;
        connection.announce(Change::of_user(ChangeKind::Rights, &self.organization, &account));
        for statement in ["DELETE FROM tokens WHERE api_key_id = $1", "DELETE FROM oauth_grants WHERE api_key_id = $1"]
        {
            Query::new(statement).bind(self.id.as_str()).execute(&mut *connection).await?;
        }
        Ok(())
    }
}

fn read(row: &Row) -> Result<ApiKey> {
    Ok(ApiKey {
        id: parse_column(row, "api_key_id")?,
        account: parse_column(row, "account")?,
        name: parse_optional_column(row, "name")?,
        created_at: read_timestamp(row, "created_at")?,
        expires_at: read_optional_timestamp(row, "expires_at")?,
        last_used_at: read_optional_timestamp(row, "last_used_at")?,
        revoked_at: read_optional_timestamp(row, "revoked_at")?,
    })
}
