//! Organisations with their data keys.

use sqlx::Row as _;

use super::api_keys::{Insert, insert_key, issue};
use super::dialect::{Connection, is_conflict};
use super::users::insert_member;
use crate::account::OrganizationId;
use crate::api_key::NewApiKey;
use crate::clock::Timestamp;
use crate::credentials::{IssuedKey, NewOrganization};
use crate::error::{Error, Result};
use crate::role::{ADMINISTRATOR, RoleName};
use crate::secrets::{DataKey, KeyRing};
use crate::store::Store;
use crate::user::NewUser;

/// The key of the organisation `$1`.
const DATA_KEY: &str = "SELECT data_key_id, data_key FROM organizations WHERE organization = $1";

impl Store {
    /// Creates an organisation whose first user may do everything, with a key for them.
    pub async fn create_organization(&self, new: NewOrganization) -> Result<IssuedKey> {
        new.organization.require_reachable()?;
        new.user.require_free()?;
        let (key, user, first_key) = first_user(&new)?;
        let (issued, now) = (key.clone(), self.0.clock.now());
        let keys = self.0.keys.clone();
        self.write(move |connection| {
            Box::pin(async move {
                insert_organization(connection, &new.organization, &keys, now).await?;
                insert_member(connection, &new.organization, &user, now).await?;
                insert_key(connection, &key, Insert { keys: &keys, now, new: &first_key }).await
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

    /// Whether callers get their answers without the tool's secrets, should they be in them.
    pub async fn redacts_answers(&self, organization: &OrganizationId) -> Result<bool> {
        let query = sqlx::query_scalar("SELECT redact_answers FROM organizations WHERE organization = $1");
        let found: Option<i64> = query.bind(organization.as_str()).fetch_optional(self.readers()).await?;
        Ok(found != Some(0))
    }

    /// Chooses what [`Store::redacts_answers`] says; it counts from the next call on.
    pub async fn set_redacts_answers(&self, organization: &OrganizationId, redacts: bool) -> Result<()> {
        let organization = organization.clone();
        self.write(move |connection| {
            Box::pin(async move {
                let query = sqlx::query("UPDATE organizations SET redact_answers = $2 WHERE organization = $1");
                let done = query.bind(organization.as_str()).bind(redacts).execute(connection).await?;
                if done.rows_affected() == 0 { Err(Error::NotFound { what: "organization" }) } else { Ok(()) }
            })
        })
        .await
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

/// The user of a new organisation with their key.
fn first_user(new: &NewOrganization) -> Result<(IssuedKey, NewUser, NewApiKey)> {
    let user = NewUser { id: new.user.clone(), role: RoleName::parse(ADMINISTRATOR)? };
    let first_key = NewApiKey { user: new.user.clone(), name: None, expires_at: None };
    Ok((issue(&new.organization, &new.user), user, first_key))
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
