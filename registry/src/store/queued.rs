//! A write in the writer's queue, and the channel to its caller.

use std::future::Future;
use std::pin::Pin;

use tokio::sync::oneshot;

use super::database::Connection;
use super::sql::history::record_rows::RecordRows;
use crate::error::{Error, Result};

pub(super) type Writing<'c, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'c>>;

/// The statements of one use case inside a transaction.
pub(super) trait Work<T>: for<'c> FnOnce(&'c mut Connection) -> Writing<'c, T> + Send + 'static {}

impl<T, F> Work<T> for F where F: for<'c> FnOnce(&'c mut Connection) -> Writing<'c, T> + Send + 'static {}

/// A queued write of any result type.
pub(super) trait Job: Send {
    /// Runs the statements. Returns `false` when they failed and their savepoint must be rolled back.
    fn apply<'c>(&'c mut self, connection: &'c mut Connection) -> Pin<Box<dyn Future<Output = bool> + Send + 'c>>;

    /// Sends the result to the caller, once the commit has succeeded or failed.
    fn reply(self: Box<Self>, committed: Result<()>);
}

pub(super) struct Queued<T, F> {
    work: Option<F>,
    result: Option<Result<T>>,
    caller: oneshot::Sender<Result<T>>,
}

/// Rows for the record of runs, in the queue.
pub(super) struct QueuedRecord {
    pub rows: RecordRows,
    /// The first end of a run that was refused, or why nothing was inserted.
    pub result: Result<Option<Error>>,
    caller: oneshot::Sender<Result<Option<Error>>>,
}

impl<T, F> Queued<T, F> {
    /// Returns the write and the receiver of its result.
    pub fn new(work: F) -> (Self, oneshot::Receiver<Result<T>>) {
        let (caller, receiver) = oneshot::channel();
        (Self { work: Some(work), result: None, caller }, receiver)
    }
}

impl<T: Send + 'static, F: Work<T>> Job for Queued<T, F> {
    fn apply<'c>(&'c mut self, connection: &'c mut Connection) -> Pin<Box<dyn Future<Output = bool> + Send + 'c>> {
        Box::pin(async move {
            let Some(work) = self.work.take() else { return false };
            let result = work(connection).await;
            let succeeded = result.is_ok();
            self.result = Some(result);
            succeeded
        })
    }

    fn reply(self: Box<Self>, committed: Result<()>) {
        let Self { result, caller, .. } = *self;
        // The caller may be gone; its write is committed all the same.
        let _ = caller.send(committed.and_then(|()| result.unwrap_or(Err(Error::Closed))));
    }
}

impl QueuedRecord {
    /// Returns the write and the receiver of its result.
    pub fn new(rows: RecordRows) -> (Self, oneshot::Receiver<Result<Option<Error>>>) {
        let (caller, receiver) = oneshot::channel();
        (Self { rows, result: Err(Error::Closed), caller }, receiver)
    }

    /// Sends the result to the caller, once the commit has succeeded or failed.
    pub fn reply(self, committed: Result<()>) {
        // The caller may be gone; its rows are committed all the same.
        let _ = self.caller.send(committed.and(self.result));
    }
}
