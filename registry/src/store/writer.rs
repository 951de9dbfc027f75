//! The writer: one task with one connection, which commits writes in groups. The connection has a thread of its own for the
//! work of the database.
//!
//! A commit waits for the disk. Writes that arrive meanwhile share the next commit. A single write is committed
//! immediately. The caller gets the result after the commit of its group.

use std::sync::Arc;

use metrics::gauge;
use tokio::sync::{mpsc, oneshot};

use super::changes::Change;
use super::database::{Connection, Database};
use super::queued::{Job, Queued, QueuedRecord, Work, WriteError};
use super::retention::Retention;
use super::sql::group::Group;
use super::sql::history::record_rows::RecordRows;
use crate::error::{Error, Result};
use crate::kit::ids::BootId;
use crate::kit::metrics::{WRITES_WAITING, to_number};

/// Writes in the queue. Callers wait while the queue is full (back-pressure).
const QUEUE_MAX: usize = 1024;
/// Writes in one commit, so that the first of them does not wait long for the last.
const GROUP_MAX: usize = 256;
/// Bytes of the rows in the record of runs of one commit. A single write may be larger.
const GROUP_BYTES: usize = 8 << 20;

enum Message {
    Job(Box<dyn Job>),
    Record(Box<QueuedRecord>),
    Close(oneshot::Sender<()>),
}

#[derive(Clone)]
pub(super) struct Writer {
    queue: mpsc::Sender<Message>,
}

/// Hears of the changes of a commit.
pub(super) type OnCommit = Box<dyn Fn(&[Change]) + Send + Sync>;

/// The parts that a writer is made of.
pub(super) struct WriterSetup {
    pub connection: Connection,
    pub database: Arc<dyn Database>,
    pub retention: Retention,
    /// The name under which changes are announced to other servers; `None` when there are none.
    pub announces_as: Option<BootId>,
    /// Called after each commit with the changes that its writes name, before the callers get their results.
    pub on_commit: OnCommit,
}

impl Writer {
    /// Starts the writer on the runtime of the callers, whose tasks it wakes without another thread between them.
    pub fn start(setup: WriterSetup) -> Self {
        let (queue, messages) = mpsc::channel(QUEUE_MAX);
        tokio::spawn(run(setup, messages));
        Self { queue }
    }

    pub async fn write<T: Send + 'static, E: WriteError>(&self, work: impl Work<T, E>) -> Result<T, E> {
        let (queued, receiver) = Queued::new(work);
        self.send(Message::Job(Box::new(queued))).await?;
        receiver.await.unwrap_or_else(|_| Err(Error::Closed.into()))
    }

    /// Writes to the record of runs. Returns the first end of a run that was refused; the others are committed all the same.
    pub async fn record(&self, rows: RecordRows) -> Result<Option<Error>> {
        let (queued, receiver) = QueuedRecord::new(rows);
        self.send(Message::Record(Box::new(queued))).await?;
        receiver.await.unwrap_or(Err(Error::Closed))
    }

    async fn send(&self, message: Message) -> Result<()> {
        self.queue.send(message).await.map_err(|_| Error::Closed)
    }

    pub async fn close(&self) {
        let (done, finished) = oneshot::channel();
        if self.send(Message::Close(done)).await.is_ok() {
            // An error means that the writer has ended already.
            let _ = finished.await;
        }
    }
}

async fn run(mut setup: WriterSetup, mut messages: mpsc::Receiver<Message>) {
    let mut closing = None;
    while closing.is_none() {
        let Some(first) = messages.recv().await else { break };
        let group;
        (group, closing) = gather(first, &mut messages);
        gauge!(WRITES_WAITING).set(to_number(messages.len()));
        if group.len() > 0 {
            commit(&mut setup, group).await;
        }
    }
    messages.close();
    setup.connection.close().await;
    if let Some(done) = closing {
        let _ = done.send(());
    }
}

/// Takes the messages that are in the queue, without waiting for more.
fn gather(first: Message, messages: &mut mpsc::Receiver<Message>) -> (Group, Option<oneshot::Sender<()>>) {
    let (mut group, mut bytes, mut next) = (Group::default(), 0, Some(first));
    while let Some(message) = next {
        match message {
            Message::Job(job) => group.jobs.push(job),
            Message::Record(record) => {
                bytes += record.rows.bytes();
                group.records.push(*record);
            }
            Message::Close(done) => return (group, Some(done)),
        }
        let is_complete = group.len() >= GROUP_MAX || bytes >= GROUP_BYTES;
        next = if is_complete { None } else { messages.try_recv().ok() };
    }
    (group, None)
}

/// Commits a group. After a failed commit the connection is replaced, which recovers from any state.
async fn commit(setup: &mut WriterSetup, mut group: Group) {
    let committed = group.commit(&mut setup.connection, setup.retention, setup.announces_as.as_ref()).await;
    // Also after a failure: the database may have committed before the connection was lost.
    (setup.on_commit)(&group.changes);
    let has_failed = committed.is_err();
    group.reply(&committed);
    if has_failed {
        reconnect(setup).await;
    }
}

/// Keeps the old connection when no new one can be opened.
async fn reconnect(setup: &mut WriterSetup) {
    match setup.database.writer().await {
        Ok(fresh) => std::mem::replace(&mut setup.connection, fresh).close().await,
        Err(error) => tracing::error!(%error, "the writer could not reconnect to the database"),
    }
}

#[cfg(test)]
mod tests {

    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::{Arc, Database, RecordRows, Retention, Writer, WriterSetup};
    use crate::access::Grants;
    use crate::error::{Error, ErrorKind, Result};
    use crate::kit::account::{AccountId, OrganizationId};
    use crate::kit::clock::Clock;
    use crate::kit::ids::{BootId, RunId};

    use crate::access::Principal;
    use crate::history::{InvocationSource, RunStart};
    use crate::store::database::Query;
    use crate::store::sql::history::run_start::StartRow;
    use crate::store::sqlite::Sqlite;

    const ORGANIZATION: &str = "INSERT INTO organizations (organization, data_key_id, data_key, created_at)
        VALUES ('acme', '', x'', 0)";

    const INSERT: &str = "INSERT INTO schema_migrations VALUES ($1, 'test', '', 0)";

    async fn insert(writer: &Writer, number: i64) -> Result<()> {
        let work = writer.write(move |connection| {
            Box::pin(async move {
                Query::new(INSERT).bind(number).execute(connection).await?;
                Ok(())
            })
        });
        work.await
    }

    /// Ends the transaction of the group, as a database does when its disk fails.
    async fn sabotage(writer: &Writer) -> Result<()> {
        let work = writer.write(|connection| {
            Box::pin(async move {
                Query::new("ROLLBACK").execute(connection).await?;
                Ok(())
            })
        });
        work.await
    }

    async fn started() -> (tempfile::TempDir, Writer) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lathe.db");
        let database: Arc<dyn Database> = Arc::new(Sqlite::new(path, None));
        let connection = database.create(&Clock::system()).await.unwrap();
        let retention = Retention { time: Duration::ZERO, answers_per_tool_max: 0 };
        let setup = WriterSetup { connection, database, retention, announces_as: None, on_commit: Box::new(|_| ()) };
        let writer = Writer::start(setup);
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
                    Ok::<_, Error>(())
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

    async fn execute(writer: &Writer, statement: &'static str) -> Result<()> {
        let work = writer.write(move |connection| {
            Box::pin(async move {
                Query::new(statement).execute(connection).await?;
                Ok(())
            })
        });
        work.await
    }

    /// Records the start of a run of an organisation.
    async fn record(writer: &Writer, organization: &str) -> Result<Option<Error>> {
        let clock = Clock::system();
        let source = InvocationSource::Direct { user_id: "ann".to_owned() };
        let principal = Principal {
            organization: OrganizationId::parse(organization)?,
            account: AccountId::parse("ann#1")?,
            grants: Grants::default(),
            key: None,
            agent: None,
            address: None,
        };
        let started = RunStart::minimal(RunId::new(&clock), &principal, source);
        let row = StartRow::of(&started, &BootId::new(&clock), &None)?;
        writer.record(RecordRows::Started(vec![row])).await
    }

    #[tokio::test]
    async fn a_failed_commit_fails_the_records_of_its_group_too() {
        let (_folder, writer) = started().await;
        execute(&writer, ORGANIZATION).await.unwrap();
        let release = occupied(&writer).await;
        let (recorded, sabotaged, ()) =
            tokio::join!(record(&writer, "acme"), sabotage(&writer), async { drop(release) });
        assert_eq!(recorded.unwrap_err().kind(), ErrorKind::Unavailable);
        assert_eq!(sabotaged.unwrap_err().kind(), ErrorKind::Unavailable);
        assert!(record(&writer, "acme").await.unwrap().is_none());
        writer.close().await;
    }

    /// No organisation of this name exists.
    #[tokio::test]
    async fn a_record_that_breaks_a_rule_fails_alone() {
        let (_folder, writer) = started().await;
        execute(&writer, ORGANIZATION).await.unwrap();
        let release = occupied(&writer).await;
        let (first, broken, last, job, ()) = tokio::join!(
            record(&writer, "acme"),
            record(&writer, "nobody"),
            record(&writer, "acme"),
            insert(&writer, 101),
            async { drop(release) }
        );
        assert!(matches!((first, last, job), (Ok(None), Ok(None), Ok(()))));
        assert!(broken.unwrap_err().to_string().contains("database"));
        let started = writer.write(|connection| {
            Box::pin(async move {
                Query::new("SELECT count(*) AS runs FROM inv_started").fetch_column::<i64>("runs", connection).await
            })
        });
        assert_eq!(started.await.unwrap(), 2);
        writer.close().await;
    }
}
