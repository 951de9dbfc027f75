//! The check that the master key is the one of the database. With another one, stored secrets could not be read, and new ones
//! could not be read by anybody else.

use subtle::ConstantTimeEq;

use super::keys::data_key;
use super::row::parsed;
use crate::account::OrganizationId;
use crate::error::{Error, Result};
use crate::secrets::KeyRing;
use crate::store::database::{Connection, Query};

const STORED: &str = "SELECT key_check FROM master_key WHERE id = 1";

const STORE: &str = "INSERT INTO master_key (id, key_check) VALUES (1, $1) ON CONFLICT (id) DO NOTHING";

const AN_ORGANIZATION: &str = "SELECT organization FROM organizations ORDER BY organization LIMIT 1";

/// Fails with [`Error::MasterKeyWrong`] for another key than the one that the database was made with. The first key is the one.
pub(in crate::store) async fn require_master_key(connection: &mut Connection, keys: &KeyRing) -> Result<()> {
    let check = keys.derive("master key check");
    if Query::new(STORED).fetch_optional(&mut *connection).await?.is_none() {
        require_data_key(connection, keys).await?;
        Query::new(STORE).bind(check.as_slice()).execute(&mut *connection).await?;
    }
    let stored: Vec<u8> = Query::new(STORED).fetch_column("key_check", connection).await?;
    if bool::from(stored.ct_eq(&check)) { Ok(()) } else { Err(Error::MasterKeyWrong) }
}

/// A database of an earlier release has no check, and the data keys of its organisations.
async fn require_data_key(connection: &mut Connection, keys: &KeyRing) -> Result<()> {
    let Some(row) = Query::new(AN_ORGANIZATION).fetch_optional(&mut *connection).await? else { return Ok(()) };
    let organization: OrganizationId = parsed(&row, "organization")?;
    match data_key(connection, &organization, keys).await {
        Ok(_) => Ok(()),
        Err(Error::Corrupt { .. }) => Err(Error::MasterKeyWrong),
        Err(error) => Err(error),
    }
}
