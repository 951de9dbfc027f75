//! The check that the master key is the one of the database. With another one, stored secrets could not be read, and new ones
//! could not be read by anybody else.

use subtle::ConstantTimeEq;

use super::row::get;
use crate::error::{Error, Result};
use crate::secrets::KeyRing;
use crate::store::database::{Connection, Query};

const STORED: &str = "SELECT key_check FROM master_key WHERE id = 1";

const STORE: &str = "INSERT INTO master_key (id, key_check) VALUES (1, $1) ON CONFLICT (id) DO NOTHING";

const REPLACE: &str = "INSERT INTO master_key (id, key_check) VALUES (1, $1)
    ON CONFLICT (id) DO UPDATE SET key_check = excluded.key_check";

/// The label of the value in a complete database.
const COMPLETE: &str = "master key check";

/// The label of the value while rows of another database are copied.
const COPYING: &str = "master key check of an incomplete copy";

/// The value that a database has, compared with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum KeyCheck {
    Absent,
    Right,
    /// The key is right, and the database lacks rows that are being copied.
    Copying,
    Wrong,
}

/// Fails with [`Error::MasterKeyWrong`] for another key than the one that the database was made with. The first key is the one.
/// Fails with [`Error::CopyIncomplete`] while rows of another database are copied.
pub(in crate::store) async fn require_master_key(connection: &mut Connection, keys: &KeyRing) -> Result<()> {
    if check_key(connection, keys).await? == KeyCheck::Absent {
        Query::new(STORE).bind(keys.derive(COMPLETE).as_slice()).execute(&mut *connection).await?;
    }
    match check_key(connection, keys).await? {
        KeyCheck::Right => Ok(()),
        KeyCheck::Copying => Err(Error::CopyIncomplete),
        KeyCheck::Absent | KeyCheck::Wrong => Err(Error::MasterKeyWrong),
    }
}

/// Like [`require_master_key`], and accepts a copy that is not complete.
pub(in crate::store) async fn require_master_key_of_copy(connection: &mut Connection, keys: &KeyRing) -> Result<()> {
    match check_key(connection, keys).await? {
        KeyCheck::Right | KeyCheck::Copying => Ok(()),
        KeyCheck::Absent | KeyCheck::Wrong => Err(Error::MasterKeyWrong),
    }
}

/// Compares the stored value with a key.
pub(in crate::store) async fn check_key(connection: &mut Connection, keys: &KeyRing) -> Result<KeyCheck> {
    let Some(row) = Query::new(STORED).fetch_optional(connection).await? else { return Ok(KeyCheck::Absent) };
    let stored: Vec<u8> = get(&row, "key_check")?;
    let is = |label| bool::from(stored.ct_eq(&keys.derive(label)));
    Ok(match (is(COMPLETE), is(COPYING)) {
        (true, _) => KeyCheck::Right,
        (_, true) => KeyCheck::Copying,
        _ => KeyCheck::Wrong,
    })
}

/// Lets no server use the database until [`mark_complete`].
pub(in crate::store) async fn mark_copying(connection: &mut Connection, keys: &KeyRing) -> Result<()> {
    replace(connection, keys, COPYING).await
}

/// Lets servers with the key use the database.
pub(in crate::store) async fn mark_complete(connection: &mut Connection, keys: &KeyRing) -> Result<()> {
    replace(connection, keys, COMPLETE).await
}

async fn replace(connection: &mut Connection, keys: &KeyRing, label: &str) -> Result<()> {
    Query::new(REPLACE).bind(keys.derive(label).as_slice()).execute(connection).await?;
    Ok(())
}
