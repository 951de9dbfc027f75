//! The journal: a file in which record events become durable before they are in the database.
//!
//! A call waits twice for a write to its record. Appending to a file takes one write and one flush for all queued events,
//! while the database writes pages of a dozen trees. Events are therefore appended here first, reported as durable, and
//! inserted into the database a moment later in large groups ([`super::pending_records`]). After a crash the next start
//! of the server inserts them again; events that are already in the database do not change.

mod frames;
mod segment;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use metrics::{counter, histogram};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::pending_records::PendingRecords;
use super::sql::group::repeated;
use super::sql::record_event::RecordEvent;
use super::writer::Writer;
use crate::durable::at;
use crate::error::{Error, Result};
use crate::metrics::{FLUSH_EVENTS, FLUSH_SECONDS, FLUSHES_FAILED, number};
use segment::Segments;

/// Size of an event in the journal. Longer events go to the database directly, since writing their bytes takes most of the
/// time in the journal too.
const FRAME_BYTES_MAX: usize = 256 << 10;
/// Size at which the journal changes to the other segment: some thousand runs.
const SEGMENT_BYTES: u64 = 8 << 20;
/// Size at which a group is complete.
const GROUP_BYTES: usize = 1 << 20;
/// Events in the queue. Callers wait while the queue is full (back-pressure).
const QUEUE_MAX: usize = 1024;

/// When at least this many events shared the last flush, the next flush waits for [`LINGER`]: more events are on their
/// way, and a flush costs about the same for one event and for many.
const CROWD: usize = 4;
const LINGER: Duration = Duration::from_micros(100);

/// An event in the queue.
struct Entry {
    frame: Vec<u8>,
    event: RecordEvent,
    caller: oneshot::Sender<Result<()>>,
}

enum Message {
    Entry(Box<Entry>),
    Close(oneshot::Sender<Segments>),
}

pub(super) struct Journal {
    queue: mpsc::Sender<Message>,
}

struct JournalThread {
    segments: Segments,
    pending: Arc<PendingRecords>,
    writer: Writer,
    /// Number of events added to `pending` by the last change of segments. The idle segment may be overwritten once these
    /// events are in the database.
    mark: u64,
    buffer: Vec<u8>,
}

/// Checks that this release can read the journal in a folder, if there is one.
pub(super) fn check(folder: &Path) -> Result<()> {
    Segments::check(folder)
}

/// Opens the journal in a folder and inserts its events into the database.
pub(super) async fn open(folder: &Path, writer: &Writer, pending: &Arc<PendingRecords>) -> Result<Journal> {
    let (mut segments, found) = Segments::open(folder)?;
    if !found.is_empty() {
        tracing::info!(writes = found.len(), "inserting records of runs from the journal into the database");
        let events = found.iter().map(|frame| RecordEvent::read(frame)).collect::<Result<Vec<_>>>()?;
        pending.add(events.into_iter());
        writer.flush_pending().await?;
    }
    segments.clear()?;
    let (pending, writer) = (pending.clone(), writer.clone());
    Journal::start(folder, JournalThread { segments, pending, writer, mark: 0, buffer: Vec::new() })
}

impl Journal {
    /// Starts the thread of the journal. The thread does no other work, because its work alternates with disk I/O.
    fn start(folder: &Path, journal: JournalThread) -> Result<Self> {
        let (queue, messages) = mpsc::channel(QUEUE_MAX);
        let thread = std::thread::Builder::new().name("journal".to_owned());
        at(folder, thread.spawn(move || journal.run(messages)))?;
        Ok(Self { queue })
    }

    /// Writes an event. It is durable when this returns.
    pub async fn write(&self, event: RecordEvent, writer: &Writer) -> Result<Option<Error>> {
        let Some(frame) = event.encode(FRAME_BYTES_MAX)? else {
            return writer.record(move |recorder| event.insert(recorder)).await;
        };
        let (caller, receiver) = oneshot::channel();
        let entry = Message::Entry(Box::new(Entry { frame, event, caller }));
        self.queue.send(entry).await.map_err(|_| Error::Closed)?;
        receiver.await.unwrap_or(Err(Error::Closed)).map(|()| None)
    }

    /// Ends the thread after the queued events and returns the files.
    pub async fn close(&self) -> Option<Segments> {
        let (done, finished) = oneshot::channel();
        self.queue.send(Message::Close(done)).await.ok()?;
        finished.await.ok()
    }
}

/// Takes the messages that are in the queue, without waiting for more.
fn gather(first: Message, queue: &mut mpsc::Receiver<Message>) -> (Vec<Entry>, Option<oneshot::Sender<Segments>>) {
    let (mut entries, mut bytes, mut next) = (Vec::new(), 0, Some(first));
    while let Some(message) = next {
        match message {
            Message::Entry(entry) => {
                bytes += entry.frame.len();
                entries.push(*entry);
            }
            Message::Close(done) => return (entries, Some(done)),
        }
        next = if bytes < GROUP_BYTES { queue.try_recv().ok() } else { None };
    }
    (entries, None)
}

impl JournalThread {
    fn run(mut self, mut queue: mpsc::Receiver<Message>) {
        let mut is_crowded = false;
        while let Some(first) = queue.blocking_recv() {
            if is_crowded {
                std::thread::sleep(LINGER);
            }
            let (entries, close) = gather(first, &mut queue);
            is_crowded = entries.len() >= CROWD;
            if !entries.is_empty() {
                self.write(entries);
            }
            if let Some(done) = close {
                queue.close();
                // The receiver is gone when the server does not wait for the store to close.
                let _ = done.send(self.segments);
                return;
            }
        }
    }

    /// Makes a group durable and replies to its callers.
    fn write(&mut self, entries: Vec<Entry>) {
        let began = Instant::now();
        let written = self.append(&entries);
        histogram!(FLUSH_SECONDS).record(began.elapsed());
        histogram!(FLUSH_EVENTS).record(number(entries.len()));
        let (events, callers): (Vec<_>, Vec<_>) = entries.into_iter().map(|entry| (entry.event, entry.caller)).unzip();
        match &written {
            Ok(()) => self.pending.add(events.into_iter()),
            Err(error) => {
                counter!(FLUSHES_FAILED).increment(1);
                tracing::error!(%error, events = events.len(), "writing to the journal failed");
            }
        }
        for caller in callers {
            // The caller may be gone; its event is written all the same.
            let _ = caller.send(written.as_ref().copied().map_err(repeated));
        }
    }

    fn append(&mut self, entries: &[Entry]) -> Result<()> {
        if self.segments.bytes() >= SEGMENT_BYTES {
            self.rotate()?;
        }
        self.segments.append(entries.iter().map(|entry| entry.frame.as_slice()), &mut self.buffer)
    }

    /// Changes to the other segment, once its events have reached the database.
    fn rotate(&mut self) -> Result<()> {
        if !self.pending.are_inserted(self.mark) {
            self.writer.flush_pending_blocking()?;
        }
        self.segments.rotate();
        self.mark = self.pending.added();
        Ok(())
    }
}
