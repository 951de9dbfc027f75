//! The check that the database accepts writes.

use super::dialect::TOUCH;
use crate::error::{Error, Result};
use crate::store::handle::Store;

impl Store {
    /// Writes to the disk without a change of data. Fails without a write when the disk has refused a real write recently: a
    /// full disk may accept this small write and refuse a record.
    pub async fn check_writable(&self) -> Result<()> {
        if self.0.health.is_in_doubt(self.0.clock.now()) {
            return Err(Error::StorageFailing { detail: "the disk refused a write a few seconds ago".into() });
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
