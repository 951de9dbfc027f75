//! A write in the writer's queue, and whoever waits for it.

use std::future::Future;
use std::pin::Pin;

use sqlx::SqliteConnection;
use tokio::sync::oneshot;

use super::sql::recorder::Recorder;
use crate::error::{Error, Result};

pub(super) type Writing<'c, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'c>>;

/// What one use case does inside a transaction.
pub(super) trait Work<T>: for<'c> FnOnce(&'c mut SqliteConnection) -> Writing<'c, T> + Send + 'static {}

impl<T, F> Work<T> for F where F: for<'c> FnOnce(&'c mut SqliteConnection) -> Writing<'c, T> + Send + 'static {}

/// What goes into the record of runs, inside a transaction; once more when that is undone because of another.
pub(super) trait Recording<T>: Fn(&Recorder<'_>) -> Result<T> + Send + 'static {}

impl<T, F> Recording<T> for F where F: Fn(&Recorder<'_>) -> Result<T> + Send + 'static {}

/// Somebody who waits for a write.
pub(super) trait Answer: Send {
    /// Tells the caller, once it is known whether the group is durable.
    fn answer(self: Box<Self>, committed: Result<()>);
}

/// A queued write, whatever its type.
pub(super) trait Job: Answer {
    /// Runs it; `false` when it failed and its savepoint must be undone.
    fn apply<'c>(&'c mut self, connection: &'c mut SqliteConnection)
    -> Pin<Box<dyn Future<Output = bool> + Send + 'c>>;
}

/// A queued entry of the record, whatever its type.
pub(super) trait Entry: Answer {
    /// As [`Job::apply`], and may be done again after it was undone.
    fn apply(&mut self, recorder: &Recorder<'_>) -> bool;
}

pub(super) struct Queued<T, F> {
    work: Option<F>,
    result: Option<Result<T>>,
    answer: oneshot::Sender<Result<T>>,
}

impl<T, F> Queued<T, F> {
    /// The write, and where its result comes out.
    pub fn new(work: F) -> (Self, oneshot::Receiver<Result<T>>) {
        let (answer, answered) = oneshot::channel();
        (Self { work: Some(work), result: None, answer }, answered)
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

impl<T: Send + 'static, F: Recording<T>> Entry for Queued<T, F> {
    fn apply(&mut self, recorder: &Recorder<'_>) -> bool {
        let Some(work) = &self.work else { return false };
        let result = work(recorder);
        let succeeded = result.is_ok();
        self.result = Some(result);
        succeeded
    }
}

impl<T: Send, F: Send> Answer for Queued<T, F> {
    fn answer(self: Box<Self>, committed: Result<()>) {
        let Self { result, answer, .. } = *self;
        let result = committed.and_then(|()| result.unwrap_or(Err(Error::Closed)));
        // A caller that went away does not hear; its write stands.
        let _ = answer.send(result);
    }
}
