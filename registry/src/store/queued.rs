//! A write in the writer's queue, and the channel to its caller.

use std::future::Future;
use std::pin::Pin;

use sqlx::SqliteConnection;
use tokio::sync::oneshot;

use super::sql::recorder::Recorder;
use crate::error::{Error, Result};

pub(super) type Writing<'c, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'c>>;

/// The statements of one use case inside a transaction.
pub(super) trait Work<T>: for<'c> FnOnce(&'c mut SqliteConnection) -> Writing<'c, T> + Send + 'static {}

impl<T, F> Work<T> for F where F: for<'c> FnOnce(&'c mut SqliteConnection) -> Writing<'c, T> + Send + 'static {}

/// The statements of a write to the record of runs inside a transaction. They run again when the transaction is rolled
/// back because of another write.
pub(super) trait RecordWork<T>: Fn(&Recorder) -> Result<T> + Send + 'static {}

impl<T, F> RecordWork<T> for F where F: Fn(&Recorder) -> Result<T> + Send + 'static {}

/// A write whose caller waits.
pub(super) trait Reply: Send {
    /// Sends the result to the caller, once the commit has succeeded or failed.
    fn reply(self: Box<Self>, committed: Result<()>);
}

/// A queued write of any result type.
pub(super) trait Job: Reply {
    /// Runs the statements. Returns `false` when they failed and their savepoint must be rolled back.
    fn apply<'c>(&'c mut self, connection: &'c mut SqliteConnection)
    -> Pin<Box<dyn Future<Output = bool> + Send + 'c>>;
}

/// A queued write to the record of runs, of any result type.
pub(super) trait RecordJob: Reply {
    /// Like [`Job::apply`], and may be called again after a rollback.
    fn apply(&mut self, recorder: &Recorder) -> bool;
}

pub(super) struct Queued<T, F> {
    work: Option<F>,
    result: Option<Result<T>>,
    caller: oneshot::Sender<Result<T>>,
}

impl<T, F> Queued<T, F> {
    /// Returns the write and the receiver of its result.
    pub fn new(work: F) -> (Self, oneshot::Receiver<Result<T>>) {
        let (caller, receiver) = oneshot::channel();
        (Self { work: Some(work), result: None, caller }, receiver)
    }
}

impl<T: Send + 'static, F: Work<T>> Job for Queued<T, F> {
    fn apply<'c>(
        &'c mut self,
        connection: &'c mut SqliteConnection,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'c>> {
        Box::pin(async move {
            let Some(work) = self.work.take() else { return false };
            let result = work(connection).await;
            let succeeded = result.is_ok();
            self.result = Some(result);
            succeeded
        })
    }
}

impl<T: Send + 'static, F: RecordWork<T>> RecordJob for Queued<T, F> {
    fn apply(&mut self, recorder: &Recorder) -> bool {
        let Some(work) = &self.work else { return false };
        let result = work(recorder);
        let succeeded = result.is_ok();
        self.result = Some(result);
        succeeded
    }
}

impl<T: Send, F: Send> Reply for Queued<T, F> {
    fn reply(self: Box<Self>, committed: Result<()>) {
        let Self { result, caller, .. } = *self;
        let result = committed.and_then(|()| result.unwrap_or(Err(Error::Closed)));
        // The caller may be gone; its write is committed all the same.
        let _ = caller.send(result);
    }
}
