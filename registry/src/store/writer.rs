//! The writer: one thread with two connections, which commit in groups.
//!
//! A commit waits for the disk, so everything that arrives meanwhile goes into the next one. A lone write waits for
//! nobody. Each write is answered only after its group's commit. What goes into the record of runs has a
//! connection of its own ([`Records`]); what the journal has taken comes there late, and before everything else.

use std::sync::Arc;

use metrics::gauge;
use sqlx::SqliteConnection;
use tokio::sync::{mpsc, oneshot};

use super::backlog::{Backlog, TOGETHER_MAX};
use super::queued::{Entry, Job, Queued, Recording, Work};
use super::room::Room;
use super::sql::answers::Keeping;
use super::sql::group::{commit_entries, commit_group, refuse};
use super::sql::halves::Halves;
use super::sql::open::{self, Database};
use super::sql::recorder::{Recorder, Records};
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::{WRITES_WAITING, number};

/// Writes waiting for the next commit; callers wait beyond it, which is the back pressure.
const QUEUE_MAX: usize = 1024;
/// Writes in one commit, so that the first of them does not wait long for the last.
const GROUP_MAX: usize = 256;

enum Message {
    Job(Box<dyn Job>),
    Entry(Box<dyn Entry>),
    Close(oneshot::Sender<()>),
}

#[derive(Clone)]
pub(super) struct Writer {
    queue: mpsc::Sender<Message>,
}

impl Writer {
    /// On a thread of its own: it goes back and forth with the disk, and no other work comes between.
    /// After each commit of anything but the record of runs, and before anybody is answered, `changed` is called.
    pub fn start(
        connection: SqliteConnection,
        database: Database,
        backlog: Arc<Backlog>,
        keeping: Keeping,
        changed: impl Fn() + Send + 'static,
    ) -> Result<Self> {
        let (queue, messages) = mpsc::channel(QUEUE_MAX);
        let failure = |source| Error::Io { path: database.path.clone(), source };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(failure)?;
        let thread = std::thread::Builder::new().name("writer".to_owned());
        let records = Records::open(&database, keeping)?;
        let path = database.path.clone();
        let room = Room::of(&database);
        backlog.set_room(room.is_ample());
        let connections =
            Connections { connection, records, database, backlog, room, keeping, changed: Box::new(changed) };
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

    /// Waits until what is in the backlog has reached the database.
    pub async fn settle(&self) -> Result<()> {
        self.record(|_| Ok(())).await
    }

    /// As [`Writer::settle`], for a thread that has no other work.
    pub fn settle_blocking(&self) -> Result<()> {
        let (queued, answered) = Queued::new(|_: &Recorder<'_>| Ok(()));
        self.queue.blocking_send(Message::Entry(Box::new(queued))).map_err(|_| Error::Closed)?;
        answered.blocking_recv().unwrap_or(Err(Error::Closed))
    }

    async fn queued<T, F>(&self, work: F, message: impl FnOnce(Queued<T, F>) -> Message) -> Result<T> {
        let (queued, answered) = Queued::new(work);
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

struct Connections {
    connection: SqliteConnection,
    records: Records,
    database: Database,
    backlog: Arc<Backlog>,
    room: Room,
    keeping: Keeping,
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
        let gathered = tokio::select! {
            first = messages.recv() => match first {
                Some(first) => gather(first, &mut messages),
                None => break,
            },
            () = connections.backlog.gathered() => Gathered::default(),
        };
        gauge!(WRITES_WAITING).set(number(messages.len()));
        connections.commit(gathered.entries, gathered.jobs).await;
        closing = gathered.close;
    }
    messages.close();
    let Connections { connection, records, .. } = connections;
    drop(records);
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
    /// The backlog, and then what is there since.
    fn enter(&self, entries: Vec<Box<dyn Entry>>) -> Result<()> {
        loop {
            let late = self.backlog.take();
            if late.len() < TOGETHER_MAX {
                return self.enter_together(late, entries);
            }
            if let Err(error) = self.enter_together(late, Vec::new()) {
                refuse(entries, &error);
                return Err(error);
            }
        }
    }

    fn enter_together(&self, late: Vec<Halves>, entries: Vec<Box<dyn Entry>>) -> Result<()> {
        if late.is_empty() && entries.is_empty() {
            return Ok(());
        }
        let entered = commit_entries(&self.records.recorder(), &late, entries);
        match &entered {
            Ok(()) => self.backlog.done(late.len()),
            Err(_) => self.backlog.failed(late),
        }
        let is_refused = matches!(entered, Err(Error::StorageFailing { .. }));
        self.backlog.set_room(!is_refused && self.room.is_ample());
        entered
    }

    /// After a failed commit a fresh connection is the surest way back.
    async fn commit(&mut self, entries: Vec<Box<dyn Entry>>, jobs: Vec<Box<dyn Job>>) {
        if let Err(error) = self.enter(entries) {
            replace(&mut self.records, Records::open(&self.database, self.keeping));
            let is_behind = error.kind() == ErrorKind::Unavailable && !self.backlog.is_empty();
            if is_behind || matches!(error, Error::DatabaseBusy { .. }) {
                // It would keep them as long again, and those behind them; or they would come before what came first.
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
    use std::sync::Arc;
    use std::time::Duration;

    use super::{Database, Keeping, Writer};
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
        let keeping = Keeping { retention: Duration::ZERO, of_a_tool_max: 0 };
        let writer = Writer::start(connection, database(), Arc::default(), keeping, || ()).unwrap();
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
