//! The check that the database accepts writes.

use crate::error::{Error, Result};
use crate::store::database::Query;
use crate::store::handle::Store;
use crate::store::storage_health::SPACE_BYTES_MIN;

impl Store {
    /// Writes to the disk without a change of data. Fails without a write when the disk has refused a real write recently, or
    /// has no space since: a full disk may accept this small write and refuse a record.
    pub async fn check_writable(&self) -> Result<()> {
        let has_space = || self.0.database.has_space(SPACE_BYTES_MIN);
        if self.0.health.is_in_doubt(self.0.clock.now(), has_space) {
            let detail = "the disk refused a write a few seconds ago, or has too little space since".into();
            return Err(Error::StorageFailing { detail });
        }
        let touch = self.0.writer.write(|connection| {
            Box::pin(async move {
                Query::new("{touch}").execute(connection).await?;
                Ok(())
            })
        });
        touch.await
    }

    /// Notes that the disk refused a write of an artifact, for [`Self::check_writable`].
    pub fn note_refused_artifact(&self, error: &Error) {
        if matches!(error, Error::StorageFailing { .. }) {
            self.0.health.note_refusal(self.0.clock.now());
        }
    }
}
