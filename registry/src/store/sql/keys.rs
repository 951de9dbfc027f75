//! Organisations with their data keys, users, and API keys.

use sqlx::Row as _;

use super::dialect::{Connection, is_conflict};
use super::row::to_json;
use crate::account::OrganizationId;
use crate::clock::Timestamp;
use crate::credentials::{IssuedKey, NewOrganization};
use crate::error::{Error, Result};
use crate::permission::PermissionSet;
use crate::random;
use crate::secrets::{DataKey, KeyRing, keyed_hash};
use crate::store::Store;
use crate::variables::SecretValue;

/// The key of the organisation `$1`.
const DATA_KEY: &str = "SELECT data_key_id, data_key FROM organizations WHERE organization = $1";

impl Store {
    /// Creates an organisation whose first user may do everything, with a key for them.
    pub async fn create_organization(&self, new: NewOrganization) -> Result<IssuedKey> {
        let key = issue(&new);
        let (issued, now) = (key.clone(), self.0.clock.now());
        let keys = self.0.keys.clone();
        self.write(move |connection| {
            Box::pin(async move {
                insert_organization(connection, &new.organization, &keys, now).await?;
                insert_member(connection, &new, now).await?;
                insert_key(connection, &key, &keys, now).await
            })
        })
        .await?;
        Ok(issued)
    }

    /// Whether the organisation exists.
    pub async fn organization_exists(&self, organization: &OrganizationId) -> Result<bool> {
        let found = sqlx::query(DATA_KEY).bind(organization.as_str()).fetch_optional(self.readers()).await?;
        Ok(found.is_some())
    }
}

/// Opens the data key of an organisation.
pub(super) async fn data_key(
    connection: &mut Connection,
    organization: &OrganizationId,
    keys: &KeyRing,
) -> Result<DataKey> {
    let row = sqlx::query(DATA_KEY).bind(organization.as_str()).fetch_optional(connection).await?;
    let row = row.ok_or(Error::NotFound { what: "organization" })?;
    keys.unwrap(organization, row.try_get(0)?, row.try_get(1)?)
}

/// How an API key is remembered.
pub(super) fn api_key_hash(keys: &KeyRing, api_key: &str) -> [u8; 32] {
    keyed_hash(&keys.derive("api keys"), api_key.as_bytes())
}

fn issue(new: &NewOrganization) -> IssuedKey {
    let api_key_id = random::base62(12);
    let api_key = SecretValue::new(format!("lk_{api_key_id}_{}", random::base62(43)));
    IssuedKey { organization: new.organization.clone(), user: new.user.clone(), api_key_id, api_key }
}

async fn insert_organization(
    connection: &mut Connection,
    organization: &OrganizationId,
    keys: &KeyRing,
    now: Timestamp,
) -> Result<()> {
    let data_key = DataKey::generate();
    let inserted = sqlx::query(
        "INSERT INTO organizations (organization, data_key_id, data_key, created_at) VALUES ($1, $2, $3, $4)",
    )
    .bind(organization.as_str())
    .bind(data_key.id())
    .bind(keys.wrap(organization, &data_key)?)
    .bind(now.as_milliseconds())
    .execute(connection)
    .await;
    match inserted {
        Err(error) if is_conflict(&error) => {
            Err(Error::Exists { what: "organization", name: organization.to_string() })
        }
        other => other.map(|_| ()).map_err(Error::from),
    }
}

async fn insert_member(connection: &mut Connection, new: &NewOrganization, now: Timestamp) -> Result<()> {
    sqlx::query("INSERT INTO members (organization, user_id, permissions, created_at) VALUES ($1, $2, $3, $4)")
        .bind(new.organization.as_str())
        .bind(new.user.as_str())
        .bind(to_json(&PermissionSet::all())?)
        .bind(now.as_milliseconds())
        .execute(connection)
        .await?;
    Ok(())
}

async fn insert_key(connection: &mut Connection, key: &IssuedKey, keys: &KeyRing, now: Timestamp) -> Result<()> {
    sqlx::query(
        "INSERT INTO api_keys (api_key_id, organization, user_id, key_hash, created_at) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(key.api_key_id.as_str())
    .bind(key.organization.as_str())
    .bind(key.user.as_str())
    .bind(api_key_hash(keys, key.api_key.expose()).to_vec())
    .bind(now.as_milliseconds())
    .execute(connection)
    .await?;
    Ok(())
}
