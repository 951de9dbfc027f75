//! A runner process: started, told its settings, ready.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr};

use super::confinement::Confinement;
use super::frames::{FrameError, Mailbox, Reader, send_all};
use super::messages::{FromRunner, ToRunner};
use super::starter::Starter;

/// It takes some milliseconds; this is for machines that do much else.
const READY_TIME_MAX: Duration = Duration::from_secs(20);
/// What a runner writes to its standard error is a panic's message, or the linker's.
const LOG_LINES_MAX: usize = 1_000;
const LOG_LINE_BYTES_MAX: u64 = 4 << 10;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("no runner is configured")]
    NoProgram,
    #[error("it does not start: {0}")]
    Spawn(#[from] io::Error),
    #[error("it was not ready within {} s", READY_TIME_MAX.as_secs())]
    TooSlow,
    #[error("it ended before it was ready")]
    Ended,
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// A process that waits for runs. It is killed when this is dropped.
pub struct Started {
    pub child: Child,
    pub reader: Reader,
    pub mailbox: Mailbox,
    /// Sends what is posted for as long as it is polled.
    pub sending: Sending,
    pub confinement: Confinement,
}

/// It ends with the process, or when nobody can post any more.
pub type Sending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

impl Started {
    /// Starts a process and waits until it is ready.
    ///
    /// # Errors
    /// When it does not start, or says something else.
    pub async fn new(starter: &Starter, command: &[String], parallel_runs_max: u32) -> Result<Self, StartError> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        let mut child = starter.start(command, theirs.into()).await?;
        ours.set_nonblocking(true)?;
        let socket = Arc::new(UnixStream::from_std(ours)?);
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(log(stderr, child.id()));
        }
        let (mailbox, queue) = Mailbox::new();
        let mut reader = Reader::new(socket.clone(), false);
        let mut sending: Sending = Box::pin(async move { send_all(&socket, queue).await });
        mailbox.post(&ToRunner::Settings { parallel_runs_max })?;
        let first = async {
            tokio::select! {
                first = reader.next() => Ok(first?),
                _ = &mut sending => Err(StartError::Ended),
            }
        };
        match tokio::time::timeout(READY_TIME_MAX, first).await.map_err(|_| StartError::TooSlow)?? {
            Some(FromRunner::Ready { confinement }) => Ok(Self { child, reader, mailbox, sending, confinement }),
            _ => Err(StartError::Ended),
        }
    }
}

/// Hands what a process says on to the server's log, line by line and not without end.
async fn log(stderr: ChildStderr, process: Option<u32>) {
    let mut lines = BufReader::new(stderr);
    for _ in 0..LOG_LINES_MAX {
        let mut line = Vec::new();
        match (&mut lines).take(LOG_LINE_BYTES_MAX).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => tracing::warn!(process, line = String::from_utf8_lossy(&line).trim_end(), "a runner says"),
        }
    }
    // It must not wait for somebody to read on.
    drop(tokio::io::copy(&mut lines, &mut tokio::io::sink()).await);
}
