//! A copy of the database.

use std::path::Path;

use crate::error::Result;
use crate::store::handle::Store;

impl Store {
    /// Writes the database to a new file, beside a running server. The copy has everything that was committed before the call.
    /// The caller flushes the file.
    pub async fn snapshot(&self, path: &Path) -> Result<()> {
        self.0.database.snapshot(path).await
    }
}
