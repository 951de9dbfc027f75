//! The writer: one thread with one connection, which commits in groups.
//!
//! A commit waits for the disk, so everything that arrives meanwhile goes into the next one. A lone write waits for
//! nobody. Within a group every write has a savepoint of its own; each is answered only after the group's commit.

use std::future::Future;
use std::pin::Pin;

use metrics::gauge;
use sqlx::SqliteConnection;
use tokio::sync::{mpsc, oneshot};

use super::sql::group::commit_group;
use super::sql::open::{self, Database};
use crate::error::{Error, Result};
use crate::metrics::{WRITES_WAITING, number};

/// Writes waiting for the next commit; callers wait beyond it, which is the back pressure.
const QUEUE_MAX: usize = 1024;
/// Writes in one commit, so that the first of them does not wait long for the last.
const GROUP_MAX: usize = 256;

pub(super) type Writing<'c, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'c>>;

/// What one use case does inside a transaction.
pub(super) trait Work<T>: for<'c> FnOnce(&'c mut SqliteConnection) -> Writing<'c, T> + Send + 'static {}

impl<T, F> Work<T> for F where F: for<'c> FnOnce(&'c mut SqliteConnection) -> Writing<'c, T> + Send + 'static {}

/// A queued write, whatever its type.
pub(super) trait Job: Send {
    /// Runs it; `false` when it failed and its savepoint must be undone.
    fn apply<'c>(&'c mut self, connection: &'c mut SqliteConnection)
    -> Pin<Box<dyn Future<Output = bool> + Send + 'c>>;
    /// Tells the caller, once it is known whether the group is durable.
    fn answer(self: Box<Self>, committed: Result<()>);
}

enum Message {
    Job(Box<dyn Job>),
    Close(oneshot::Sender<()>),
}

pub(super) struct Writer {
    queue: mpsc::Sender<Message>,
}

impl Writer {
    /// On a thread of its own: it goes back and forth with the database's, and no other work comes between.
    pub fn start(connection: SqliteConnection, database: Database) -> std::io::Result<Self> {
        let (queue, messages) = mpsc::channel(QUEUE_MAX);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let run = move || runtime.block_on(run(connection, database, messages));
        std::thread::Builder::new().name("writer".to_owned()).spawn(run)?;
        Ok(Self { queue })
    }

    pub async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let job = Queued { work: Some(work), result: None, answer };
        self.queue.send(Message::Job(Box::new(job))).await.map_err(|_| Error::Closed)?;
        answered.await.unwrap_or(Err(Error::Closed))
    }

    pub async fn close(&self) {
        let (done, finished) = oneshot::channel();
        if self.queue.send(Message::Close(done)).await.is_ok() {
            // An error means that the task has ended already, which is what was asked for.
            let _ = finished.await;
        }
    }
}

struct Queued<T, F> {
    work: Option<F>,
    result: Option<Result<T>>,
    answer: oneshot::Sender<Result<T>>,
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

    fn answer(self: Box<Self>, committed: Result<()>) {
        let Self { result, answer, .. } = *self;
        let result = committed.and_then(|()| result.unwrap_or(Err(Error::Closed)));
        // A caller that went away does not hear; its write stands.
        let _ = answer.send(result);
    }
}

async fn run(mut connection: SqliteConnection, database: Database, mut messages: mpsc::Receiver<Message>) {
    let mut closing = None;
    while closing.is_none() {
        let Some(first) = messages.recv().await else { break };
        let (jobs, close) = gather(first, &mut messages);
        gauge!(WRITES_WAITING).set(number(messages.len()));
        closing = close;
        if !jobs.is_empty() && !commit_group(&mut connection, jobs).await {
            connection = reopened(connection, &database).await;
        }
    }
    messages.close();
    open::close(connection).await;
    if let Some(done) = closing {
        let _ = done.send(());
    }
}

/// Takes what has queued up, without waiting for more.
fn gather(first: Message, messages: &mut mpsc::Receiver<Message>) -> (Vec<Box<dyn Job>>, Option<oneshot::Sender<()>>) {
    let mut jobs = Vec::new();
    let mut next = Some(first);
    while let Some(message) = next {
        match message {
            Message::Job(job) => jobs.push(job),
            Message::Close(done) => return (jobs, Some(done)),
        }
        next = if jobs.len() < GROUP_MAX { messages.try_recv().ok() } else { None };
    }
    (jobs, None)
}

/// After a failed commit a fresh connection is the surest way back; without one the old is tried again.
async fn reopened(old: SqliteConnection, database: &Database) -> SqliteConnection {
    match database.writer().await {
        Ok(fresh) => {
            open::close(old).await;
            fresh
        }
        Err(error) => {
            tracing::error!(%error, "the writer could not reconnect");
            old
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Database, Writer};
    use crate::clock::Clock;
    use crate::error::{ErrorKind, Result};

    async fn insert(writer: &Writer, number: i64) -> Result<()> {
        let insert = "INSERT INTO schema_migrations VALUES ($1, 'test', '', 0)";
        let work = writer.write(move |connection| {
            Box::pin(async move {
                sqlx::query(insert).bind(number).execute(connection).await?;
                Ok(())
            })
        });
        work.await
    }

    /// Ends the transaction under the group, as a database does when its disk fails.
    async fn sabotage(writer: &Writer) -> Result<()> {
        let work = writer.write(|connection| {
            Box::pin(async move {
                sqlx::query("ROLLBACK").execute(connection).await?;
                Ok(())
            })
        });
        work.await
    }

    #[tokio::test]
    async fn a_failed_commit_is_told_to_everyone_in_the_group_and_the_next_one_works() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lathe.db");
        let database = || Database { path: path.clone(), bytes_max: None };
        let connection = database().create(&Clock::system()).await.unwrap();
        let writer = Writer::start(connection, database()).unwrap();
        let (first, second, third) = tokio::join!(insert(&writer, 101), sabotage(&writer), insert(&writer, 102));
        for result in [first, second, third] {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Unavailable);
        }
        // None of them is there, or their numbers would be taken.
        insert(&writer, 101).await.unwrap();
        insert(&writer, 102).await.unwrap();
        writer.close().await;
    }
}
