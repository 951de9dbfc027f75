//! The tasks of the Library that are due.

use metrics::counter;

use super::invoker::Invoker;
use crate::error::Error;
use crate::metrics::TASKS_FIRED;
use crate::native::advance;

impl Invoker {
    /// Fires some of the tasks that are due by the clock of the database. Returns the number of tasks that this call fired.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub async fn fire_due_tasks(&self) -> Result<u64, Error> {
        let store = &self.services.store;
        let fired = store.advance_due_items(store.database_time().await?, advance).await?;
        counter!(TASKS_FIRED).increment(fired);
        Ok(fired)
    }
}
