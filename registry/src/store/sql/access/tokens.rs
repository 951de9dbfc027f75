//! Signing in with an API key, and checking tokens.

use subtle::{Choice, ConstantTimeEq};

use super::api_keys::hash_api_key;
use super::handle::Access;
use crate::access::{
    Grants, IssuedToken, Principal, Role, RoleName, SignIn, SignInKey, SignInRefused, SignedIn, api_key,
};
use crate::error::{Error, Result};
use crate::kit::account::AccountId;
use crate::kit::clock::Timestamp;
use crate::kit::random;
use crate::secrets::{KeyRing, compute_keyed_hash};
use crate::store::changes::{Change, ChangeKind};
use crate::store::database::{Connection, Query, Row};
use crate::store::sql::kit::row::{get, parse_column, read_optional_timestamp, read_timestamp};
use crate::store::token_cache::Checked;
use crate::tools::SecretValue;

/// Precision of the time of a key's last use, which serves to find unused keys.
const LAST_USED_PRECISION_MS: i64 = 60 * 60 * 1000;

/// Tokens that are deleted when a new token is issued. Bounds the commit.
const DELETED_MAX: u32 = 256;

const DELETE_EXPIRED: &str = "DELETE FROM tokens WHERE token_hash IN
    (SELECT token_hash FROM tokens WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)";

const DELETE_OLDEST: &str = "DELETE FROM tokens WHERE token_hash IN
    (SELECT token_hash FROM tokens WHERE api_key_id = $1 ORDER BY created_at DESC, token_hash LIMIT $3 OFFSET $2)";

const FIND_KEY: &str = "SELECT account, key_hash, expires_at FROM api_keys
    WHERE organization = $1 AND api_key_id = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)";

const FIND_TOKEN: &str = "SELECT t.organization, t.account, t.expires_at, m.role, r.grants, k.api_key_id,
        k.expires_at AS key_ends_at
    FROM tokens t
    JOIN members m ON m.organization = t.organization AND m.account = t.account
    JOIN api_keys k ON k.api_key_id = t.api_key_id AND k.revoked_at IS NULL
    LEFT JOIN roles r ON r.organization = m.organization AND r.name = m.role
    WHERE t.token_hash = $1";

/// The user of a key, and its expiry.
struct KeyOwner {
    account: AccountId,
    expires_at: Option<Timestamp>,
}

impl Access {
    /// Exchanges an API key for a token of its user.
    pub async fn sign_in(&self, sign_in: SignIn<'_>) -> Result<SignedIn> {
        if !self.organization_exists(sign_in.organization).await? {
            return Ok(SignedIn::Refused(SignInRefused::UnknownOrganization));
        }
        let owner = self.find_key_owner(sign_in).await?;
        let issued = match owner {
            Some(owner) => self.issue_token(sign_in, owner).await?,
            None => None,
        };
        Ok(issued.map_or(SignedIn::Refused(SignInRefused::BadCredentials), SignedIn::Issued))
    }

    /// Returns the user of a valid token, with their organisation. The result is cached for a second.
    pub async fn authenticate(&self, id_token: &str) -> Result<Option<Principal>> {
        if !api_key::is_secret(id_token) {
            return Ok(None);
        }
        let token_hash = hash_token(&self.store.0.keys, id_token);
        let checked = match self.store.0.kept.tokens.checked.get(&token_hash) {
            Some(checked) => Some(checked),
            None => self.look_up(token_hash).await?,
        };
        Ok(self.check_principal(checked))
    }

    pub(super) fn check_principal(&self, checked: Option<Checked>) -> Option<Principal> {
        let now = self.store.0.clock.now();
        checked.filter(|checked| checked.expires_at.is_none_or(|end| end > now)).map(|checked| checked.principal)
    }

    /// Checks the credentials. Takes the same time whether the key exists or not.
    async fn find_key_owner(&self, sign_in: SignIn<'_>) -> Result<Option<KeyOwner>> {
        if !api_key::is_well_formed(sign_in.api_key, sign_in.api_key_id) {
            return Ok(None);
        }
        let query = Query::new(FIND_KEY).bind(sign_in.organization.as_str()).bind(sign_in.api_key_id);
        let query = query.bind(self.store.0.clock.now().as_milliseconds());
        let row = query.fetch_optional(self.store.readers()).await?;
        let stored: Vec<u8> = row.as_ref().map_or_else(|| Ok(vec![0; 32]), |row| get(row, "key_hash"))?;
        let presented = hash_api_key(&self.store.0.keys, sign_in.api_key);
        let is_right = stored.ct_eq(&presented);
        let Some(row) = row else { return Ok(None) };
        let owner = KeyOwner {
            account: parse_column(&row, "account")?,
            expires_at: read_optional_timestamp(&row, "expires_at")?,
        };
        let is_same_user = Choice::from(u8::from(owner.account.user_str() == sign_in.user));
        Ok(bool::from(is_right & is_same_user).then_some(owner))
    }

    /// Issues a token, which expires with its key at the latest. Returns `None` when the key was revoked meanwhile.
    async fn issue_token(&self, sign_in: SignIn<'_>, owner: KeyOwner) -> Result<Option<IssuedToken>> {
        let text = random::base62(43);
        let now = self.store.0.clock.now();
        let last = now.after(self.store.0.config.token_lifetime);
        let expires_at = owner.expires_at.map_or(last, |end| end.min(last));
        let (hash, tokens_max) = (hash_token(&self.store.0.keys, &text), self.store.0.config.tokens_max);
        let api_key_id = sign_in.api_key_id.to_owned();
        let replaces = Change::of_user(ChangeKind::Rights, sign_in.organization, &owner.account);
        let inserted = self.store.write(move |connection| {
            Box::pin(async move {
                delete_expired(connection, now).await?;
                if delete_oldest(connection, &api_key_id, tokens_max).await? > 0 {
                    connection.announce(replaces);
                }
                note_use(connection, &api_key_id, now).await?;
                let insert =
                    "INSERT INTO tokens (token_hash, organization, account, api_key_id, created_at, expires_at)
                    SELECT $1, organization, account, api_key_id, $3, $4 FROM api_keys
                    WHERE api_key_id = $2 AND revoked_at IS NULL";
                let query = Query::new(insert).bind(hash.to_vec()).bind(api_key_id);
                let query = query.bind(now.as_milliseconds()).bind(expires_at.as_milliseconds());
                Ok(query.execute(connection).await?)
            })
        });
        let issued = IssuedToken { id_token: SecretValue::new(text), expires_at };
        Ok((inserted.await? == 1).then_some(issued))
    }

    async fn look_up(&self, token_hash: [u8; 32]) -> Result<Option<Checked>> {
        let read_start = self.store.0.kept.tokens.checked.read_start();
        let query = Query::new(FIND_TOKEN).bind(token_hash.to_vec());
        let Some(row) = query.fetch_optional(self.store.readers()).await? else {
            return Ok(None);
        };
        let grants = self.read_grants(&parse_column(&row, "role")?, &row)?;
        let key =
            SignInKey { id: parse_column(&row, "api_key_id")?, ends_at: read_optional_timestamp(&row, "key_ends_at")? };
        let (organization, account) = (parse_column(&row, "organization")?, parse_column(&row, "account")?);
        let principal = Principal { organization, account, grants, key: Some(key), agent: None, address: None };
        let checked = Checked { principal, expires_at: Some(read_timestamp(&row, "expires_at")?), resource: None };
        self.store.0.kept.tokens.checked.insert_read(&read_start, token_hash, checked.clone());
        Ok(Some(checked))
    }

    /// Returns the grants of a role. Those of a custom role are in the column `grants`.
    pub(in crate::store::sql) fn read_grants(&self, name: &RoleName, row: &Row) -> Result<Grants> {
        if let Some(role) = Role::find_built_in(name) {
            return Ok(role.grants);
        }
        let Some(json) = get::<Option<&str>>(row, "grants")? else { return Ok(Grants::default()) };
        let damaged = |error: serde_json::Error| Error::Corrupt { what: "role", detail: error.to_string() };
        self.store.0.kept.tokens.grants(json).map_err(damaged)
    }
}

fn hash_token(keys: &KeyRing, token: &str) -> [u8; 32] {
    compute_keyed_hash(&keys.derive("tokens"), token.as_bytes())
}

/// Deletes expired tokens. Each call deletes more than one, so that none stay for long.
async fn delete_expired(connection: &mut Connection, now: Timestamp) -> Result<()> {
    Query::new(DELETE_EXPIRED).bind(now.as_milliseconds()).bind(DELETED_MAX).execute(connection).await?;
    Ok(())
}

/// Deletes the oldest tokens of a key, so that one more is within the limit. Returns their number.
async fn delete_oldest(connection: &mut Connection, api_key_id: &str, tokens_max: u32) -> Result<u64> {
    let kept = tokens_max.saturating_sub(1);
    let query = Query::new(DELETE_OLDEST).bind(api_key_id).bind(kept).bind(DELETED_MAX);
    Ok(query.execute(connection).await?)
}

/// The hour that is stored as the time of a use, in milliseconds.
pub(super) const fn compute_hour_of_use(now: Timestamp) -> i64 {
    now.as_milliseconds() / LAST_USED_PRECISION_MS * LAST_USED_PRECISION_MS
}

pub(super) async fn note_use(connection: &mut Connection, api_key_id: &str, now: Timestamp) -> Result<()> {
    let hour = compute_hour_of_use(now);
    let update = "UPDATE api_keys SET last_used_at = $2
        WHERE api_key_id = $1 AND (last_used_at IS NULL OR last_used_at < $2)";
    Query::new(update).bind(api_key_id).bind(hour).execute(connection).await?;
    Ok(())
}
