//! The journal: where halves of records become durable before they are in the database.
//!
//! A call waits for its record twice. A file that only grows takes one write and one flush for all halves that have
//! queued up, where the database has pages of a dozen trees to write; so they are put down here first, are told durable,
//! and reach the database a moment later in large groups ([`super::backlog`]). After a crash the next start of the
//! server enters them again, which changes nothing of those that were there.

mod frames;
mod segment;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use metrics::{counter, histogram};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::backlog::Backlog;
use super::sql::group::repeated;
use super::sql::halves::Halves;
use super::writer::Writer;
use crate::durable::at;
use crate::error::{Error, Result};
use crate::metrics::{FLUSH_HALVES, FLUSH_SECONDS, FLUSHES_FAILED, number};
use segment::Segments;

/// What is longer goes to the database at once: there the bytes are what takes time, and would here as well.
const FRAME_BYTES_MAX: usize = 256 << 10;
/// A segment that has so much is left for the other one: some thousand runs.
const SEGMENT_BYTES: u64 = 8 << 20;
/// No more is added to a group that has so much.
const GROUP_BYTES: usize = 1 << 20;
/// Halves that wait for the next flush; callers wait beyond it, which is the back pressure.
const QUEUE_MAX: usize = 1024;

/// When so many shared the last flush, more are on their way, and the next one waits for them: a flush costs about the
/// same for one and for many.
const CROWD: usize = 4;
const LINGER: Duration = Duration::from_micros(100);

/// Halves on their way into the journal.
struct Entry {
    frame: Vec<u8>,
    halves: Halves,
    answer: oneshot::Sender<Result<()>>,
}

enum Message {
    Entry(Box<Entry>),
    Close(oneshot::Sender<Segments>),
}

pub(super) struct Journal {
    queue: mpsc::Sender<Message>,
}

struct Keeping {
    segments: Segments,
    backlog: Arc<Backlog>,
    writer: Writer,
    /// Of the backlog, what is in the segment that is not written to.
    mark: u64,
    buffer: Vec<u8>,
}

/// Looks whether this release can read the journal in a folder, if there is one.
pub(super) fn check(folder: &Path) -> Result<()> {
    Segments::check(folder)
}

/// Opens the journal in a folder, and enters what is in it into the database.
pub(super) async fn open(folder: &Path, writer: &Writer, backlog: &Arc<Backlog>) -> Result<Journal> {
    let (mut segments, found) = Segments::open(folder)?;
    if !found.is_empty() {
        tracing::info!(writes = found.len(), "records of runs are entered from the journal");
        let halves = found.iter().map(|frame| Halves::read(frame)).collect::<Result<Vec<_>>>()?;
        backlog.add(halves.into_iter());
        writer.settle().await?;
    }
    segments.clear()?;
    let (backlog, writer) = (backlog.clone(), writer.clone());
    Journal::start(folder, Keeping { segments, backlog, writer, mark: 0, buffer: Vec::new() })
}

impl Journal {
    /// On a thread of its own, which goes back and forth with the disk.
    fn start(folder: &Path, keeping: Keeping) -> Result<Self> {
        let (queue, messages) = mpsc::channel(QUEUE_MAX);
        let thread = std::thread::Builder::new().name("journal".to_owned());
        at(folder, thread.spawn(move || run(keeping, messages)))?;
        Ok(Self { queue })
    }

    /// Keeps halves of records: they are durable when this returns.
    pub async fn keep(&self, halves: Halves, writer: &Writer) -> Result<Option<Error>> {
        let Some(frame) = halves.written(FRAME_BYTES_MAX)? else {
            return writer.record(move |recorder| halves.enter(recorder)).await;
        };
        let (answer, answered) = oneshot::channel();
        let entry = Message::Entry(Box::new(Entry { frame, halves, answer }));
        self.queue.send(entry).await.map_err(|_| Error::Closed)?;
        answered.await.unwrap_or(Err(Error::Closed)).map(|()| None)
    }

    /// Ends after what has queued up, and hands over the files.
    pub async fn close(&self) -> Option<Segments> {
        let (done, finished) = oneshot::channel();
        self.queue.send(Message::Close(done)).await.ok()?;
        finished.await.ok()
    }
}

fn run(mut keeping: Keeping, mut queue: mpsc::Receiver<Message>) {
    let mut is_crowded = false;
    while let Some(first) = queue.blocking_recv() {
        if is_crowded {
            std::thread::sleep(LINGER);
        }
        let (entries, close) = gather(first, &mut queue);
        is_crowded = entries.len() >= CROWD;
        if !entries.is_empty() {
            keeping.keep(entries);
        }
        if let Some(done) = close {
            queue.close();
            // Nobody waits for it when the server ends in a hurry.
            let _ = done.send(keeping.segments);
            return;
        }
    }
}

/// Takes what has queued up, without waiting for more.
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

impl Keeping {
    /// Makes a group durable, and tells everybody in it.
    fn keep(&mut self, entries: Vec<Entry>) {
        let began = Instant::now();
        let kept = self.append(&entries);
        histogram!(FLUSH_SECONDS).record(began.elapsed());
        histogram!(FLUSH_HALVES).record(number(entries.len()));
        let (halves, answers): (Vec<_>, Vec<_>) = entries.into_iter().map(|one| (one.halves, one.answer)).unzip();
        match &kept {
            Ok(()) => self.backlog.add(halves.into_iter()),
            Err(error) => {
                counter!(FLUSHES_FAILED).increment(1);
                tracing::error!(%error, halves = halves.len(), "the journal takes nothing");
            }
        }
        for answer in answers {
            // A caller that went away does not hear; what it had written stands.
            let _ = answer.send(kept.as_ref().copied().map_err(repeated));
        }
    }

    fn append(&mut self, entries: &[Entry]) -> Result<()> {
        if self.segments.bytes() >= SEGMENT_BYTES {
            self.turn()?;
        }
        self.segments.append(entries.iter().map(|entry| entry.frame.as_slice()), &mut self.buffer)
    }

    /// Goes on in the other segment, once what is in it has reached the database.
    fn turn(&mut self) -> Result<()> {
        if !self.backlog.is_done(self.mark) {
            self.writer.settle_blocking()?;
        }
        self.segments.turn();
        self.mark = self.backlog.added();
        Ok(())
    }
}
