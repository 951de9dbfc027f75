//! A copy of the database in a file of its own.

use std::path::Path;

use sqlx::Connection as _;

use crate::error::{Error, Result};
use crate::store::handle::Store;

/// Copies the database in one read transaction. Row ids, which continuation tokens contain, stay the same.
const SNAPSHOT: &str = "VACUUM INTO $1";

/// Connections that read refuse every write, also one to another file.
const MAY_WRITE: &str = "PRAGMA query_only = OFF";

impl Store {
    /// Writes the database to a new file, beside a running server. The copy has everything that was committed before the call.
    /// The caller flushes the file.
    pub async fn snapshot(&self, path: &Path) -> Result<()> {
        let path = path.to_str().ok_or_else(|| Error::StorageFailing {
            detail: format!("SQLite cannot write to {}: the path is not UTF-8", path.display()),
        })?;
        let mut connection = self.readers().acquire().await?.detach();
        sqlx::query(MAY_WRITE).execute(&mut connection).await?;
        let copied = sqlx::query(SNAPSHOT).bind(path).execute(&mut connection).await;
        connection.close().await?;
        copied?;
        Ok(())
    }
}
