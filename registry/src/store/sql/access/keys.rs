//! Organisations and their data keys.

use super::api_keys::{Insert, insert_key, issue};
use super::handle::Access;
use super::users::insert_member;
use crate::access::{ADMINISTRATOR, IssuedKey, NewApiKey, NewOrganization, NewUser, RoleName};
use crate::error::{Error, Result};
use crate::kit::account::OrganizationId;
use crate::kit::clock::Timestamp;
use crate::secrets::{DataKey, KeyRing};
use crate::store::database::{Connection, Query};
use crate::store::sql::kit::counts::require_changed;
use crate::store::sql::kit::row::{get, read_timestamp};

/// The data key of the organisation `$1`.
const DATA_KEY: &str = "SELECT data_key_id, data_key FROM organizations WHERE organization = $1";

impl Access {
    /// Creates an organisation with an administrator as its first user. Returns a key of that user.
    pub async fn create_organization(&self, new: NewOrganization) -> Result<IssuedKey> {
        new.organization.require_reachable()?;
        new.user.require_free()?;
        let (keys, now) = (self.store.0.keys.clone(), self.store.0.clock.now());
        let key = issue(&new.organization, new.user.clone());
        let user = NewUser { id: new.user, role: RoleName::parse(ADMINISTRATOR)? };
        let (issued, row) = (key.clone(), OrganizationRow::new(new.organization, &keys, now)?);
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    row.insert(connection).await?;
                    let account = insert_member(connection, &row.organization, &user, now).await?;
                    let first_key = NewApiKey { account, name: None, expires_at: None };
                    insert_key(connection, &key, Insert { keys: &keys, now, new: &first_key }).await
                })
            })
            .await?;
        Ok(issued)
    }

    /// Whether the organisation exists.
    pub async fn organization_exists(&self, organization: &OrganizationId) -> Result<bool> {
        let found = Query::new(DATA_KEY).bind(organization.as_str()).fetch_optional(self.store.readers()).await?;
        Ok(found.is_some())
    }

    /// Returns when an organisation was created; `None` when it does not exist.
    pub async fn organization_created_at(&self, organization: &OrganizationId) -> Result<Option<Timestamp>> {
        let query = Query::new("SELECT created_at FROM organizations WHERE organization = $1");
        let row = query.bind(organization.as_str()).fetch_optional(self.store.readers()).await?;
        row.as_ref().map(|row| read_timestamp(row, "created_at")).transpose()
    }

    /// Whether secrets of the tool are redacted in outputs.
    pub async fn redacts_answers(&self, organization: &OrganizationId) -> Result<bool> {
        let query = Query::new("SELECT redact_answers FROM organizations WHERE organization = $1");
        let found = query.bind(organization.as_str()).fetch_optional(self.store.readers()).await?;
        found.map_or(Ok(true), |row| get(&row, "redact_answers"))
    }

    /// Sets [`Access::redacts_answers`], from the next call on.
    pub async fn set_redacts_answers(&self, organization: &OrganizationId, redacts: bool) -> Result<()> {
        let organization = organization.clone();
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    let query = Query::new("UPDATE organizations SET redact_answers = $2 WHERE organization = $1");
                    let done = query.bind(organization.as_str()).bind(redacts).execute(connection).await?;
                    require_changed(done, "organization")
                })
            })
            .await
    }

    pub(in crate::store::sql) async fn get_data_key(&self, organization: &OrganizationId) -> Result<DataKey> {
        if let Some(key) = self.store.0.data_keys.get(organization) {
            return Ok(key);
        }
        let mut connection = self.store.readers().acquire().await?;
        let key = read_data_key(&mut connection, organization, &self.store.0.keys).await?;
        self.store.0.data_keys.insert(organization.clone(), key.clone());
        Ok(key)
    }
}

/// Reads and opens the data key of an organisation.
pub(in crate::store::sql) async fn read_data_key(
    connection: &mut Connection,
    organization: &OrganizationId,
    keys: &KeyRing,
) -> Result<DataKey> {
    let row = Query::new(DATA_KEY).bind(organization.as_str()).fetch_optional(connection).await?;
    let row = row.ok_or(Error::NotFound { what: "organization" })?;
    keys.unwrap(organization, get(&row, "data_key_id")?, get(&row, "data_key")?)
}

/// The row of a new organisation.
struct OrganizationRow {
    organization: OrganizationId,
    data_key_id: String,
    wrapped_key: Vec<u8>,
    created_at: Timestamp,
}

impl OrganizationRow {
    fn new(organization: OrganizationId, keys: &KeyRing, created_at: Timestamp) -> Result<Self> {
        let data_key = DataKey::generate();
        let wrapped_key = keys.wrap(&organization, &data_key)?;
        Ok(Self { organization, data_key_id: data_key.id().to_owned(), wrapped_key, created_at })
    }

    async fn insert(&self, connection: &mut Connection) -> Result<()> {
        let statement =
            "INSERT INTO organizations (organization, data_key_id, data_key, created_at) VALUES ($1, $2, $3, $4)";
        let query = Query::new(statement).bind(self.organization.as_str()).bind(self.data_key_id.as_str());
        let query = query.bind(self.wrapped_key.as_slice()).bind(self.created_at.as_milliseconds());
        match query.execute(connection).await {
            Err(failure) if failure.is_conflict() => {
                Err(Error::Exists { what: "organization", name: self.organization.to_string() })
            }
            other => other.map(|_| ()).map_err(Error::from),
        }
    }
}
