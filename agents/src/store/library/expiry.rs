//! The end of deleted items of the Library.

use std::time::Duration;

use registry::Result;
use registry::statements::Query;

use crate::store::AgentStore;

/// Time for which a deleted item stays in the database.
const KEPT_FOR: Duration = Duration::from_hours(30 * 24);

const DELETE: &str = "DELETE FROM library_items WHERE deleted_at <= $1";

impl AgentStore {
    /// Deletes the items that were deleted a month ago, for good. Returns their number.
    pub async fn delete_expired_library_items(&self) -> Result<u64> {
        let before = self.clock().now().before(KEPT_FOR).as_milliseconds();
        self.write(move |connection| {
            Box::pin(async move { Ok(Query::new(DELETE).bind(before).execute(connection).await?) })
        })
        .await
    }
}
