//! The writer: one thread with two connections, which commit in groups.
//!
//! A commit waits for the disk, so everything that arrives meanwhile goes into the next one. A lone write waits for
//! nobody. Each write is answered only after its group's commit. What goes into the record of runs, which every run
//! waits for, has a connection of its own ([`Recorder`]).

use std::future::Future;
use std::pin::Pin;

use metrics::gauge;
use sqlx::SqliteConnection;
use tokio::sync::{mpsc, oneshot};

use super::sql::group::{commit_entries, commit_group, refuse};
use super::sql::open::{self, Database};
use super::sql::recorder::Recorder;
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

/// What goes into the record of runs, inside a transaction; once more when that is undone because of another.
pub(super) trait Recording<T>: Fn(&Recorder) -> Result<T> + Send + 'static {}

impl<T, F> Recording<T> for F where F: Fn(&Recorder) -> Result<T> + Send + 'static {}

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
    fn apply(&mut self, recorder: &Recorder) -> bool;
}

enum Message {
    Job(Box<dyn Job>),
    Entry(Box<dyn Entry>),
    Close(oneshot::Sender<()>),
}

pub(super) struct Writer {
    queue: mpsc::Sender<Message>,
}

impl Writer {
    /// On a thread of its own: it goes back and forth with the disk, and no other work comes between.
    /// After each commit of anything but the record of runs, and before anybody is answered, `changed` is called.
    pub fn start(
        connection: SqliteConnection,
        database: Database,
        changed: impl Fn() + Send + 'static,
    ) -> Result<Self> {
        let (queue, messages) = mpsc::channel(QUEUE_MAX);
        let failure = |source| Error::Io { path: database.path.clone(), source };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(failure)?;
        let thread = std::thread::Builder::new().name("writer".to_owned());
        let recorder = Recorder::open(&database)?;
        let path = database.path.clone();
        let connections = Connections { connection, recorder, database, changed: Box::new(changed) };
        let spawned = thread.spawn(move || runtime.block_on(run(connections, messages)));
        spawned.map_err(|source| Error::Io { path, source })?;
        Ok(Self { queue })
    }

    pub async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        self.queued(work, |queued| Message::Job(Box::new(queued))).await
    }

    pub async fn record<T: Send + 'static>(&self, recording: impl Recording<T>) -> Result<T> {
        self.queued(recording, |queued| Message::Entry(Box::new(queued))).await
    }

    async fn queued<T, F>(&self, work: F, message: impl FnOnce(Queued<T, F>) -> Message) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let queued = Queued { work: Some(work), result: None, answer };
        self.queue.send(message(queued)).await.map_err(|_| Error::Closed)?;
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
}

impl<T: Send + 'static, F: Recording<T>> Entry for Queued<T, F> {
    fn apply(&mut self, recorder: &Recorder) -> bool {
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

struct Connections {
    connection: SqliteConnection,
    recorder: Recorder,
    database: Database,
    changed: Box<dyn Fn() + Send>,
}

/// What has queued up.
#[derive(Default)]
struct Gathered {
    jobs: Vec<Box<dyn Job>>,
    entries: Vec<Box<dyn Entry>>,
    close: Option<oneshot::Sender<()>>,
}

async fn run(mut connections: Connections, mut messages: mpsc::Receiver<Message>) {
    let mut closing = None;
    while closing.is_none() {
        let Some(first) = messages.recv().await else { break };
        let gathered = gather(first, &mut messages);
        gauge!(WRITES_WAITING).set(number(messages.len()));
        connections.commit(gathered.entries, gathered.jobs).await;
        closing = gathered.close;
    }
    messages.close();
    let Connections { connection, recorder, .. } = connections;
    drop(recorder);
    open::close(connection).await;
    if let Some(done) = closing {
        let _ = done.send(());
    }
}

/// Takes what has queued up, without waiting for more.
fn gather(first: Message, messages: &mut mpsc::Receiver<Message>) -> Gathered {
    let mut gathered = Gathered::default();
    let mut next = Some(first);
    while let Some(message) = next {
        match message {
            Message::Job(job) => gathered.jobs.push(job),
            Message::Entry(entry) => gathered.entries.push(entry),
            Message::Close(done) => {
                gathered.close = Some(done);
                break;
            }
        }
        let count = gathered.jobs.len() + gathered.entries.len();
        next = if count < GROUP_MAX { messages.try_recv().ok() } else { None };
    }
    gathered
}

impl Connections {
    /// After a failed commit a fresh connection is the surest way back.
    async fn commit(&mut self, entries: Vec<Box<dyn Entry>>, jobs: Vec<Box<dyn Job>>) {
        if !entries.is_empty()
            && let Err(error) = commit_entries(&self.recorder, entries)
        {
            replace(&mut self.recorder, Recorder::open(&self.database));
            if matches!(error, Error::DatabaseBusy { .. }) {
                // It would keep them as long again, and those behind them.
                return refuse(jobs, &error);
            }
        }
        if !jobs.is_empty() && commit_group(&mut self.connection, jobs, &self.changed).await.is_err() {
            let old = replace(&mut self.connection, self.database.writer().await);
            if let Some(old) = old {
                open::close(old).await;
            }
        }
    }
}

/// Puts a fresh connection in the place of one; without one the old is tried again.
fn replace<C>(place: &mut C, fresh: Result<C>) -> Option<C> {
    match fresh {
        Ok(fresh) => Some(std::mem::replace(place, fresh)),
        Err(error) => {
            tracing::error!(%error, "the writer could not reconnect");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Database, Writer};
    use crate::clock::Clock;
    use crate::error::{ErrorKind, Result};

    const INSERT: &str = "INSERT INTO schema_migrations VALUES ($1, 'test', '', 0)";

    async fn insert(writer: &Writer, number: i64) -> Result<()> {
        let work = writer.write(move |connection| {
            Box::pin(async move {
                sqlx::query(INSERT).bind(number).execute(connection).await?;
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

    async fn started() -> (tempfile::TempDir, Writer) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lathe.db");
        let database = || Database { path: path.clone(), bytes_max: None };
        let connection = database().create(&Clock::system()).await.unwrap();
        let writer = Writer::start(connection, database(), || ()).unwrap();
        (folder, writer)
    }

    #[tokio::test]
    async fn a_failed_commit_is_told_to_everyone_in_the_group_and_the_next_one_works() {
        let (_folder, writer) = started().await;
        let (first, second, third) = tokio::join!(insert(&writer, 101), sabotage(&writer), insert(&writer, 102));
        for result in [first, second, third] {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Unavailable);
        }
        // None of them is there, or their numbers would be taken.
        insert(&writer, 101).await.unwrap();
        insert(&writer, 102).await.unwrap();
        writer.close().await;
    }

    async fn enter(writer: &Writer, number: i64) -> Result<()> {
        writer.record(move |recorder| recorder.execute(INSERT, &[&number]).map(drop)).await
    }

    #[tokio::test]
    async fn the_same_goes_for_entries_of_the_record() {
        let (_folder, writer) = started().await;
        // The transaction ends under the group, as it does when a disk fails.
        let spoilt = writer.record(|recorder| {
            recorder.execute("ROLLBACK", &[])?;
            recorder.execute("no statement", &[]).map(drop)
        });
        let (first, second, third) = tokio::join!(enter(&writer, 101), spoilt, enter(&writer, 102));
        for result in [first, second, third] {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Unavailable);
        }
        // Beside a write of the other kind.
        let results = tokio::join!(enter(&writer, 101), insert(&writer, 102), enter(&writer, 103));
        assert!(results.0.is_ok() && results.1.is_ok() && results.2.is_ok());
        writer.close().await;
    }

    #[tokio::test]
    async fn an_entry_that_fails_leaves_nothing_and_the_others_stand() {
        let (_folder, writer) = started().await;
        let twice = writer.record(|recorder| {
            recorder.execute(INSERT, &[&101])?;
            recorder.execute(INSERT, &[&102])?;
            recorder.execute(INSERT, &[&102]).map(drop)
        });
        let (first, second, third) = tokio::join!(enter(&writer, 103), twice, enter(&writer, 101));
        assert!(first.is_ok() && second.is_err() && third.is_ok());
        enter(&writer, 102).await.unwrap();
        writer.close().await;
    }
}
