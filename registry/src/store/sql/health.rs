//! Would a write work?

use super::dialect::TOUCH;
use crate::error::{Error, Result};
use crate::store::Store;

impl Store {
    /// Writes to the disk without changing anything, unless it has refused a real write a short time ago: a full disk has
    /// room for a touch when it has none for a record.
    pub async fn check_writable(&self) -> Result<()> {
        if self.0.storage.is_in_doubt(self.0.clock.now()) {
            return Err(Error::StorageFailing { detail: "it refused a write a short time ago".into() });
        }
        let touch = self.0.writer.write(|connection| {
            Box::pin(async move {
                sqlx::query(TOUCH).execute(connection).await?;
                Ok(())
            })
        });
        touch.await
    }
}
