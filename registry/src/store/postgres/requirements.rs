//! The requirements that a database must meet: version, encoding and durable commits.

use crate::error::{Error, Result};
use crate::store::database::{Connection, Query, get};

/// Lowest version of Postgres.
const VERSION_MIN: i64 = 150_000;

/// Refuses a database of an old version.
pub(super) async fn require_version(connection: &mut Connection) -> Result<()> {
    let query = Query::new(
        "SELECT CAST(current_setting('server_version_num') AS BIGINT) AS number, current_setting('server_version') AS version",
    );
    let row = query.fetch_one(connection).await?;
    let (number, found): (i64, String) = (get(&row, "number")?, get(&row, "version")?);
    if number < VERSION_MIN { Err(Error::PostgresTooOld { found }) } else { Ok(()) }
}

/// Refuses a database whose commits do not survive a power failure.
pub(super) async fn require_durability(connection: &mut Connection) -> Result<()> {
    for setting in ["synchronous_commit", "fsync", "full_page_writes"] {
        let query = Query::new("SELECT current_setting($1) AS value").bind(setting);
        let value: String = query.fetch_column("value", &mut *connection).await?;
        if !matches!(value.as_str(), "on" | "remote_apply") {
            return Err(Error::NotDurable { detail: format!("{setting} is `{value}`") });
        }
    }
    Ok(())
}

/// Refuses a database in another encoding, which has no room for some characters.
pub(super) async fn require_encoding(connection: &mut Connection) -> Result<()> {
    let query = Query::new("SELECT current_setting('server_encoding') AS encoding");
    let encoding: String = query.fetch_column("encoding", connection).await?;
    if encoding == "UTF8" { Ok(()) } else { Err(Error::DatabaseEncoding { found: encoding }) }
}
