//! A copy of the database in a file of its own.

use std::path::Path;

use sqlx::{ConnectOptions, Connection};

use super::errors::to_failure;
use super::settings::build_options;
use crate::error::{Error, Result};

/// Copies the database in one read transaction. Row ids, which continuation tokens contain, stay the same.
const SNAPSHOT: &str = "VACUUM INTO $1";

/// Copies a database to a new file. The caller flushes the file.
pub(super) async fn snapshot(database: &Path, path: &Path) -> Result<()> {
    let path = path.to_str().ok_or_else(|| Error::StorageFailing {
        detail: format!("SQLite cannot write to {}: the path is not UTF-8", path.display()),
    })?;
    let mut connection = build_options(database).connect().await.map_err(to_failure)?;
    let copied = sqlx::query(SNAPSHOT).bind(path).execute(&mut connection).await;
    connection.close().await.map_err(to_failure)?;
    copied.map_err(to_failure)?;
    Ok(())
}
