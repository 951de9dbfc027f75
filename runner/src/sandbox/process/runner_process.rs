//! A runner process: started, configured, and ready.

use std::io;
use std::pin::Pin;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr};

use super::layer::Confinement;
use super::mailbox::{MESSAGE_BYTES_MAX, Mailbox, send_all};
use super::messages::{FromRunner, ToRunner};
use super::spawner::ProcessSpawner;
use crate::sandbox::frames::{FrameError, FramedSocket};

/// Time until a runner is ready. It takes some milliseconds; the rest is for busy machines.
const READY_TIME_MAX: Duration = Duration::from_secs(20);
/// Lines of a runner's standard error that are logged: messages of panics or of the dynamic linker.
const LOG_LINES_MAX: usize = 1_000;
const LOG_LINE_BYTES_MAX: u64 = 4 << 10;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the process cannot be started: {0}")]
    Spawn(#[from] io::Error),
    #[error("the process was not ready within {} s", READY_TIME_MAX.as_secs())]
    TooSlow,
    #[error("the process ended before it was ready")]
    Ended,
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// A process that waits for runs. It is killed on drop.
pub struct RunnerProcess {
    pub child: Child,
    pub socket: FramedSocket,
    pub mailbox: Mailbox,
    pub sending: Sending,
    pub confinement: Confinement,
}

/// Sends posted messages while it is polled. It ends with the process, or when the mailbox is dropped.
pub type Sending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

impl RunnerProcess {
    /// Starts a process and waits until it is ready.
    ///
    /// # Errors
    /// When the process does not start, or its first message is another one.
    pub async fn start(
        spawner: &ProcessSpawner,
        command: &[String],
        parallel_runs_max: u32,
    ) -> Result<Self, StartError> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        let mut child = spawner.spawn(command, theirs.into()).await?;
        ours.set_nonblocking(true)?;
        let mut socket = FramedSocket::new(UnixStream::from_std(ours)?);
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(log(stderr, child.id()));
        }
        let ((mailbox, queue), stream) = (Mailbox::new(), socket.stream());
        let mut sending: Sending = Box::pin(async move { send_all(&stream, queue).await });
        mailbox.post(&ToRunner::Settings { parallel_runs_max })?;
        let first = async {
            tokio::select! {
                first = socket.receive_message(MESSAGE_BYTES_MAX) => Ok(first?),
                _ = &mut sending => Err(StartError::Ended),
            }
        };
        match tokio::time::timeout(READY_TIME_MAX, first).await.map_err(|_| StartError::TooSlow)?? {
            Some(FromRunner::Ready { confinement }) => Ok(Self { child, socket, mailbox, sending, confinement }),
            _ => Err(StartError::Ended),
        }
    }
}

/// Copies a process's standard error to the server's log, up to a number of lines.
async fn log(stderr: ChildStderr, process: Option<u32>) {
    let mut lines = BufReader::new(stderr);
    for _ in 0..LOG_LINES_MAX {
        let mut line = Vec::new();
        match (&mut lines).take(LOG_LINE_BYTES_MAX).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                tracing::warn!(process, line = String::from_utf8_lossy(&line).trim_end(), "a runner wrote to stderr")
            }
        }
    }
    // A full pipe would block the process.
    drop(tokio::io::copy(&mut lines, &mut tokio::io::sink()).await);
}
