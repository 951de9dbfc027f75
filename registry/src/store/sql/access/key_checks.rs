//! Checking API keys that requests carry in place of a token.

use subtle::ConstantTimeEq;

use super::api_keys::hash_api_key;
use super::handle::Access;
use super::tokens::{compute_hour_of_use, note_use};
use crate::access::{ApiKeyId, KeyEnd, Principal, SignInKey};
use crate::error::Result;
use crate::store::database::{Query, Row};
use crate::store::sql::kit::row::{get, parse_column, read_optional_timestamp};
use crate::store::token_cache::Checked;

const FIND: &str = "SELECT k.organization, k.account, k.key_hash, k.last_used_at, k.expires_at, m.role, r.grants
    FROM api_keys k
    JOIN members m ON m.organization = k.organization AND m.account = k.account
    LEFT JOIN roles r ON r.organization = m.organization AND r.name = m.role
    WHERE k.api_key_id = $1 AND k.revoked_at IS NULL";

const FIND_END: &str = "SELECT key_hash, expires_at, revoked_at FROM api_keys WHERE api_key_id = $1";

impl Access {
    /// Returns why an API key is not valid any more, if the whole secret is right. Takes the same time whether the key exists or not.
    pub async fn find_key_end(&self, api_key: &str) -> Result<Option<KeyEnd>> {
        let Some(id) = ApiKeyId::of_key(api_key) else { return Ok(None) };
        let row = Query::new(FIND_END).bind(id.as_str()).fetch_optional(self.store.readers()).await?;
        let stored: Vec<u8> = row.as_ref().map_or_else(|| Ok(vec![0; 32]), |row| get(row, "key_hash"))?;
        let is_right = bool::from(stored.ct_eq(&hash_api_key(&self.store.0.keys, api_key)));
        let Some(row) = row.filter(|_| is_right) else { return Ok(None) };
        if let Some(at) = read_optional_timestamp(&row, "revoked_at")? {
            return Ok(Some(KeyEnd::Revoked { at }));
        }
        let now = self.store.0.clock.now();
        let expired = read_optional_timestamp(&row, "expires_at")?.filter(|end| *end <= now);
        Ok(expired.map(|at| KeyEnd::Expired { at }))
    }

    /// Returns the user of a valid API key, with their organisation. The result is cached for a second. Takes the same time
    /// whether the key exists or not.
    pub async fn authenticate_key(&self, api_key: &str) -> Result<Option<Principal>> {
        let Some(id) = ApiKeyId::of_key(api_key) else { return Ok(None) };
        let presented = hash_api_key(&self.store.0.keys, api_key);
        let checked = match self.store.0.kept.tokens.checked.get(&presented) {
            Some(checked) => Some(checked),
            None => self.look_up_key(&id, presented).await?,
        };
        Ok(self.check_principal(checked))
    }

    async fn look_up_key(&self, id: &ApiKeyId, presented: [u8; 32]) -> Result<Option<Checked>> {
        let read_start = self.store.0.kept.tokens.checked.read_start();
        let row = Query::new(FIND).bind(id.as_str()).fetch_optional(self.store.readers()).await?;
        let stored: Vec<u8> = row.as_ref().map_or_else(|| Ok(vec![0; 32]), |row| get(row, "key_hash"))?;
        let is_right = bool::from(stored.ct_eq(&presented));
        let Some(row) = row.filter(|_| is_right) else { return Ok(None) };
        let checked = self.read_checked(id, &row)?;
        if self.check_principal(Some(checked.clone())).is_some() {
            self.note_key_use(id, &row).await?;
        }
        self.store.0.kept.tokens.checked.insert_read(&read_start, presented, checked.clone());
        Ok(Some(checked))
    }

    fn read_checked(&self, id: &ApiKeyId, row: &Row) -> Result<Checked> {
        let expires_at = read_optional_timestamp(row, "expires_at")?;
        let grants = self.read_grants(&parse_column(row, "role")?, row)?;
        let (organization, account) = (parse_column(row, "organization")?, parse_column(row, "account")?);
        let key = Some(SignInKey { id: id.clone(), ends_at: expires_at });
        let principal = Principal { organization, account, grants, key, agent: None, address: None };
        Ok(Checked { principal, expires_at, resource: None })
    }

    /// Records the use of a key once an hour. A full disk does not refuse the key, since it would not refuse a token.
    async fn note_key_use(&self, id: &ApiKeyId, row: &Row) -> Result<()> {
        let now = self.store.0.clock.now();
        let noted: Option<i64> = get(row, "last_used_at")?;
        if noted.is_some_and(|noted| noted >= compute_hour_of_use(now)) {
            return Ok(());
        }
        let key = id.clone();
        let write =
            self.store.write(move |connection| Box::pin(async move { note_use(connection, key.as_str(), now).await }));
        if let Err(error) = write.await {
            tracing::warn!(api_key = %id, %error, "the use of an API key could not be recorded");
        }
        Ok(())
    }
}
