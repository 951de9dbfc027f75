//! A write in the writer's queue, and the channel to its caller.

use std::future::Future;
use std::pin::Pin;

use tokio::sync::oneshot;

use super::database::Connection;
use super::sql::history::record_rows::RecordRows;
use crate::error::{Error, Result};

/// The future of the statements of a write.
pub type Writing<'c, T, E = Error> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'c>>;

/// The statements of one use case inside a transaction, which is rolled back after an error.
pub trait Work<T, E = Error>: for<'c> FnOnce(&'c mut Connection) -> Writing<'c, T, E> + Send + 'static {}

impl<T, E, F> Work<T, E> for F where F: for<'c> FnOnce(&'c mut Connection) -> Writing<'c, T, E> + Send + 'static {}

/// An error of a write: one of the store, or a refusal of those who write.
pub trait WriteError: From<Error> + Send + 'static {
    /// Returns the error of the store, unless this is a refusal.
    fn store_error(&self) -> Option<&Error>;
}

impl WriteError for Error {
    fn store_error(&self) -> Option<&Error> {
        Some(self)
    }
}

/// A queued write of any result type.
pub(super) trait Job: Send {
    /// Runs the statements. Returns `false` when they failed and their savepoint must be rolled back.
    fn apply<'c>(&'c mut self, connection: &'c mut Connection) -> Pin<Box<dyn Future<Output = bool> + Send + 'c>>;

    /// Sends the result to the caller, once the commit has succeeded or failed.
    fn reply(self: Box<Self>, committed: Result<()>);
}

pub(super) struct Queued<T, E, F> {
    work: Option<F>,
    result: Option<Result<T, E>>,
    caller: oneshot::Sender<Result<T, E>>,
}

/// Rows for the record of runs, in the queue.
pub(super) struct QueuedRecord {
    pub rows: RecordRows,
    /// The first end of a run that was refused, or why nothing was inserted.
    pub result: Result<Option<Error>>,
    caller: oneshot::Sender<Result<Option<Error>>>,
}

impl<T, E, F> Queued<T, E, F> {
    /// Returns the write and the receiver of its result.
    pub fn new(work: F) -> (Self, oneshot::Receiver<Result<T, E>>) {
        let (caller, receiver) = oneshot::channel();
        (Self { work: Some(work), result: None, caller }, receiver)
    }
}

impl<T: Send + 'static, E: WriteError, F: Work<T, E>> Job for Queued<T, E, F> {
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
        let _ = caller.send(match committed {
            Ok(()) => result.unwrap_or_else(|| Err(Error::Closed.into())),
            Err(error) => Err(error.into()),
        });
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
