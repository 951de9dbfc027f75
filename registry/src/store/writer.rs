//! The writer: one thread with two connections, which commits writes in groups.
//!
//! A commit waits for the disk. Writes that arrive meanwhile share the next commit. A single write is committed
//! immediately. The caller gets the result after the commit of its group. Writes to the record of runs have a
//! connection of their own ([`Recorder`]). The events that are pending in the journal are inserted through it, before
//! all other writes.

use std::sync::Arc;

use metrics::gauge;
use sqlx::SqliteConnection;
use tokio::sync::{mpsc, oneshot};

use super::disk_space::DiskSpace;
use super::pending_records::{COMMIT_EVENTS_MAX, PendingRecords};
use super::queued::{Job, Queued, RecordJob, RecordWork, Work};
use super::retention::Retention;
use super::sql::group::{commit_group, commit_records, fail_all};
use super::sql::open::{self, Database};
use super::sql::record_event::RecordEvent;
use super::sql::recorder::Recorder;
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::{WRITES_WAITING, number};

/// Writes in the queue. Callers wait while the queue is full (back-pressure).
const QUEUE_MAX: usize = 1024;
/// Writes in one commit, so that the first of them does not wait long for the last.
const GROUP_MAX: usize = 256;

enum Message {
    Job(Box<dyn Job>),
    RecordJob(Box<dyn RecordJob>),
    Close(oneshot::Sender<()>),
}

#[derive(Clone)]
pub(super) struct Writer {
    queue: mpsc::Sender<Message>,
}

/// The parts that a writer is made of.
pub(super) struct WriterSetup {
    pub connection: SqliteConnection,
    pub database: Database,
    pub pending: Arc<PendingRecords>,
    pub retention: Retention,
    /// Called after each commit of anything but the record of runs, before the callers get their results.
    pub on_commit: Box<dyn Fn() + Send>,
}

impl Writer {
    /// Starts the thread of the writer. The thread does no other work, because its work alternates with disk I/O.
    pub fn start(setup: WriterSetup) -> Result<Self> {
        let (queue, messages) = mpsc::channel(QUEUE_MAX);
        let path = setup.database.path.clone();
        let failure = |source| Error::Io { path: path.clone(), source };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(failure)?;
        let recorder = Recorder::open(&setup.database, setup.retention)?;
        let disk_space = DiskSpace::of(&setup.database);
        setup.pending.set_has_space(disk_space.is_sufficient());
        let writer = WriterThread { setup, recorder, disk_space };
        let thread = std::thread::Builder::new().name("writer".to_owned());
        thread.spawn(move || runtime.block_on(writer.run(messages))).map_err(failure)?;
        Ok(Self { queue })
    }

    pub async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        self.queued(work, |queued| Message::Job(Box::new(queued))).await
    }

    pub async fn record<T: Send + 'static>(&self, work: impl RecordWork<T>) -> Result<T> {
        self.queued(work, |queued| Message::RecordJob(Box::new(queued))).await
    }

    /// Waits until the pending events have reached the database.
    pub async fn flush_pending(&self) -> Result<()> {
        self.record(|_| Ok(())).await
    }

    /// Like [`Writer::flush_pending`], and blocks the calling thread.
    pub fn flush_pending_blocking(&self) -> Result<()> {
        let (queued, receiver) = Queued::new(|_: &Recorder| Ok(()));
        self.queue.blocking_send(Message::RecordJob(Box::new(queued))).map_err(|_| Error::Closed)?;
        receiver.blocking_recv().unwrap_or(Err(Error::Closed))
    }

    async fn queued<T, F>(&self, work: F, message: impl FnOnce(Queued<T, F>) -> Message) -> Result<T> {
        let (queued, receiver) = Queued::new(work);
        self.queue.send(message(queued)).await.map_err(|_| Error::Closed)?;
        receiver.await.unwrap_or(Err(Error::Closed))
    }

    pub async fn close(&self) {
        let (done, finished) = oneshot::channel();
        if self.queue.send(Message::Close(done)).await.is_ok() {
            // An error means that the thread has ended already.
            let _ = finished.await;
        }
    }
}

struct WriterThread {
    setup: WriterSetup,
    recorder: Recorder,
    disk_space: DiskSpace,
}

/// Messages taken from the queue.
#[derive(Default)]
struct Group {
    jobs: Vec<Box<dyn Job>>,
    records: Vec<Box<dyn RecordJob>>,
    close: Option<oneshot::Sender<()>>,
}

impl Group {
    /// Takes the messages that are in the queue, without waiting for more.
    fn gather(first: Message, messages: &mut mpsc::Receiver<Message>) -> Self {
        let mut group = Self::default();
        let mut next = Some(first);
        while let Some(message) = next {
            match message {
                Message::Job(job) => group.jobs.push(job),
                Message::RecordJob(job) => group.records.push(job),
                Message::Close(done) => {
                    group.close = Some(done);
                    break;
                }
            }
            let count = group.jobs.len() + group.records.len();
            next = if count < GROUP_MAX { messages.try_recv().ok() } else { None };
        }
        group
    }
}

impl WriterThread {
    async fn run(mut self, mut messages: mpsc::Receiver<Message>) {
        let mut closing = None;
        while closing.is_none() {
            let group = tokio::select! {
                first = messages.recv() => match first {
                    Some(first) => Group::gather(first, &mut messages),
                    None => break,
                },
                () = self.setup.pending.wait_until_due() => Group::default(),
            };
            gauge!(WRITES_WAITING).set(number(messages.len()));
            self.commit(group.records, group.jobs).await;
            closing = group.close;
        }
        messages.close();
        drop(self.recorder);
        open::close(self.setup.connection).await;
        if let Some(done) = closing {
            let _ = done.send(());
        }
    }

    /// Inserts the pending events, then the other writes to the record of runs.
    fn insert(&self, jobs: Vec<Box<dyn RecordJob>>) -> Result<()> {
        loop {
            let pending = self.setup.pending.take();
            if pending.len() < COMMIT_EVENTS_MAX {
                return self.insert_group(pending, jobs);
            }
            if let Err(error) = self.insert_group(pending, Vec::new()) {
                fail_all(jobs, &error);
                return Err(error);
            }
        }
    }

    fn insert_group(&self, events: Vec<RecordEvent>, jobs: Vec<Box<dyn RecordJob>>) -> Result<()> {
        if events.is_empty() && jobs.is_empty() {
            return Ok(());
        }
        let committed = commit_records(&self.recorder, &events, jobs);
        match &committed {
            Ok(()) => self.setup.pending.mark_inserted(events.len()),
            Err(_) => self.setup.pending.put_back(events),
        }
        let is_refused = matches!(committed, Err(Error::StorageFailing { .. }));
        self.setup.pending.set_has_space(!is_refused && self.disk_space.is_sufficient());
        committed
    }

    /// Commits a group. After a failed commit the connection is replaced, which recovers from any state.
    async fn commit(&mut self, records: Vec<Box<dyn RecordJob>>, jobs: Vec<Box<dyn Job>>) {
        if let Err(error) = self.insert(records) {
            replace(&mut self.recorder, Recorder::open(&self.setup.database, self.setup.retention));
            let is_behind = error.kind() == ErrorKind::Unavailable && !self.setup.pending.is_empty();
            if is_behind || matches!(error, Error::DatabaseBusy { .. }) {
                // The jobs would wait for the busy database once more, or be committed before the older events.
                return fail_all(jobs, &error);
            }
        }
        let WriterSetup { connection, database, on_commit, .. } = &mut self.setup;
        if !jobs.is_empty() && commit_group(connection, jobs, &**on_commit).await.is_err() {
            let old = replace(connection, database.writer().await);
            if let Some(old) = old {
                open::close(old).await;
            }
        }
    }
}

/// Replaces a connection and returns the old one. Keeps the old connection when no new one can be opened.
fn replace<C>(current: &mut C, fresh: Result<C>) -> Option<C> {
    match fresh {
        Ok(fresh) => Some(std::mem::replace(current, fresh)),
        Err(error) => {
            tracing::error!(%error, "the writer could not reconnect to the database");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::{Database, Retention, Writer, WriterSetup};
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

    /// Ends the transaction of the group, as a database does when its disk fails.
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
        let retention = Retention { time: Duration::ZERO, answers_per_tool_max: 0 };
        let (database, pending, on_commit) = (database(), Arc::default(), Box::new(|| ()));
        let setup = WriterSetup { connection, database, pending, retention, on_commit };
        let writer = Writer::start(setup).unwrap();
        (folder, writer)
    }

    /// Occupies the writer until the sender is dropped, so that the writes queued meanwhile share a group.
    async fn occupied(writer: &Writer) -> oneshot::Sender<()> {
        let ((started, has_started), (release, released)) = (oneshot::channel(), oneshot::channel());
        let writer = writer.clone();
        tokio::spawn(async move {
            let work = writer.write(move |_| {
                Box::pin(async move {
                    started.send(()).unwrap();
                    released.await.unwrap_or(());
                    Ok(())
                })
            });
            work.await
        });
        has_started.await.unwrap();
        release
    }

    #[tokio::test]
    async fn a_failed_commit_fails_the_whole_group_and_the_next_one_succeeds() {
        let (_folder, writer) = started().await;
        let release = occupied(&writer).await;
        let (first, second, third, ()) =
            tokio::join!(insert(&writer, 101), sabotage(&writer), insert(&writer, 102), async { drop(release) });
        for result in [first, second, third] {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Unavailable);
        }
        // The numbers are free, so no row was inserted.
        insert(&writer, 101).await.unwrap();
        insert(&writer, 102).await.unwrap();
        writer.close().await;
    }

    async fn record(writer: &Writer, number: i64) -> Result<()> {
        writer.record(move |recorder| recorder.execute(INSERT, &[&number]).map(drop)).await
    }

    #[tokio::test]
    async fn a_failed_commit_of_records_fails_the_whole_group_and_the_next_one_succeeds() {
        let (_folder, writer) = started().await;
        // This ends the transaction of the group, as a failing disk does.
        let failing = writer.record(|recorder| {
            recorder.execute("ROLLBACK", &[])?;
            recorder.execute("no statement", &[]).map(drop)
        });
        let release = occupied(&writer).await;
        let (first, second, third, ()) =
            tokio::join!(record(&writer, 101), failing, record(&writer, 102), async { drop(release) });
        for result in [first, second, third] {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Unavailable);
        }
        // Records and another write in one group.
        let results = tokio::join!(record(&writer, 101), insert(&writer, 102), record(&writer, 103));
        assert!(results.0.is_ok() && results.1.is_ok() && results.2.is_ok());
        writer.close().await;
    }

    #[tokio::test]
    async fn a_failed_record_write_is_rolled_back_alone() {
        let (_folder, writer) = started().await;
        let twice = writer.record(|recorder| {
            recorder.execute(INSERT, &[&101])?;
            recorder.execute(INSERT, &[&102])?;
            recorder.execute(INSERT, &[&102]).map(drop)
        });
        let release = occupied(&writer).await;
        let (first, second, third, ()) =
            tokio::join!(record(&writer, 103), twice, record(&writer, 101), async { drop(release) });
        assert!(first.is_ok() && second.is_err() && third.is_ok());
        record(&writer, 102).await.unwrap();
        writer.close().await;
    }
}
