//! The process of `lathe worker`, which builds components for a server on the same machine.
//!
//! A worker has no database, no key of the server and no repository. Each connection carries one job at a time.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use registry::Language;
use runner::{Compiler, FrameError, FramedSocket};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::config::Config;
use crate::error::Error;
use crate::images::Images;
use crate::progress::{BuildProgress, BuildReport};
use crate::sandbox::{Missing, Sandbox};
use crate::steps::documents::{Documents, Parser};
use crate::steps::manifest::Manifest;
use crate::toolchain::Toolchains;
use crate::toolchain::project::{Project, ToolchainOutput};
use crate::worker_endpoint::WorkerEndpoint;
use crate::workers::handshake::{self, HandshakeError, Hello, Role};
use crate::workers::protocol::{self, FromWorker, JOB_BYTES_MAX, Job};
use crate::workers::scratch_lease::ScratchLease;

/// Time between two attempts to connect. The server may be restarting.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(5);

/// The reason for the end of a worker that was not told to stop.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error(transparent)]
    Refused(HandshakeError),
    #[error("{} belongs to another user; run the worker as the user of the server", socket.display())]
    Forbidden { socket: PathBuf },
    #[error(transparent)]
    Build(#[from] Error),
}

/// A process that builds for a server.
#[derive(Clone)]
pub struct Worker {
    toolchains: Toolchains,
    parser: Vec<String>,
    endpoint: WorkerEndpoint,
    connected: watch::Sender<usize>,
    building: watch::Sender<usize>,
}

/// Counts a build for as long as it lives.
struct CountedBuild<'a>(&'a watch::Sender<usize>);

impl<'a> CountedBuild<'a> {
    fn begin(count: &'a watch::Sender<usize>) -> Self {
        count.send_modify(|builds| *builds += 1);
        Self(count)
    }
}

impl Drop for CountedBuild<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|builds| *builds -= 1);
    }
}

/// The reason for the end of a connection.
enum ConnectionEnd {
    /// The worker was told to stop.
    Stopped,
    Failed(FrameError),
}

impl From<FrameError> for ConnectionEnd {
    fn from(error: FrameError) -> Self {
        Self::Failed(error)
    }
}

impl Worker {
    /// Takes a lease on a directory for temporary files, which ends with the second value.
    ///
    /// # Errors
    /// When a directory cannot be used.
    pub fn open(config: Config, compiler: Compiler, endpoint: WorkerEndpoint) -> Result<(Self, ScratchLease), Error> {
        let lease = ScratchLease::take(&endpoint.scratch()).map_err(Error::internal)?;
        let config = Config { scratch_dir: lease.path().to_owned(), ..config };
        let parser = config.parser.clone();
        let toolchains = Toolchains::open(config, Images::unstored(compiler))?;
        let (connected, building) = (watch::Sender::new(0), watch::Sender::new(0));
        Ok((Self { toolchains, parser, endpoint, connected, building }, lease))
    }

    /// Compiles the image of the default language, which would delay the first build.
    ///
    /// # Errors
    /// When the image is damaged, or the compiling child process fails.
    pub async fn prepare(&self) -> Result<(), Error> {
        self.toolchains.images().prepare(Language::Python).await.map(drop)
    }

    /// The sandbox for builds in which an author's code runs natively.
    ///
    /// # Errors
    /// With the missing part and the command that adds it.
    pub async fn sandbox(&self) -> Result<Sandbox, Missing> {
        self.toolchains.sandbox().await
    }

    /// The number of connections that the server has accepted.
    #[must_use]
    pub fn connected(&self) -> watch::Receiver<usize> {
        self.connected.subscribe()
    }

    /// The number of builds in progress.
    #[must_use]
    pub fn builds_running(&self) -> watch::Receiver<usize> {
        self.building.subscribe()
    }

    /// Builds up to `jobs` jobs at a time until it is told to stop. Running jobs are finished then.
    ///
    /// # Errors
    /// When the server refuses the worker, so that another attempt would fail, too.
    pub async fn serve(&self, jobs: usize, stop: watch::Receiver<bool>) -> Result<(), WorkerError> {
        let mut connections = JoinSet::new();
        for _ in 0..jobs {
            let (worker, stop) = (self.clone(), stop.clone());
            connections.spawn(async move { worker.keep_connected(stop).await });
        }
        while let Some(ended) = connections.join_next().await {
            ended.map_err(Error::internal)??;
        }
        Ok(())
    }

    /// Connects to the server again and again, and builds one job after the other.
    async fn keep_connected(&self, mut stop: watch::Receiver<bool>) -> Result<(), WorkerError> {
        let mut pause = RETRY_MIN;
        while !*stop.borrow() {
            match self.connect().await {
                Ok(mut channel) => {
                    pause = RETRY_MIN;
                    self.connected.send_modify(|count| *count += 1);
                    let end = self.serve_jobs(&mut channel, &mut stop).await;
                    let ConnectionEnd::Failed(error) = end else { return Ok(()) };
                    self.connected.send_modify(|count| *count -= 1);
                    tracing::info!(%error, "the connection to the server has ended");
                }
                Err(HandshakeError::Frame(FrameError::Socket(error)))
                    if error.kind() == ErrorKind::PermissionDenied =>
                {
                    return Err(WorkerError::Forbidden { socket: self.endpoint.socket() });
                }
                Err(refused @ HandshakeError::Refused { .. }) => return Err(WorkerError::Refused(refused)),
                Err(error) if pause == RETRY_MIN => {
                    let socket = self.endpoint.socket();
                    tracing::info!(%error, socket = %socket.display(), "waiting for a server with external build workers");
                }
                Err(error) => tracing::debug!(%error, "no server accepts connections"),
            }
            tokio::select! {
                () = wait_for_stop(&mut stop) => break,
                () = tokio::time::sleep(pause) => pause = RETRY_MAX.min(pause * 2),
            }
        }
        Ok(())
    }

    async fn connect(&self) -> Result<FramedSocket, HandshakeError> {
        let program = self.endpoint.digest().await.map_err(|error| HandshakeError::Failed(error.to_string()))?;
        let stream = UnixStream::connect(self.endpoint.socket()).await.map_err(FrameError::from)?;
        let mut channel = FramedSocket::new(stream);
        handshake::connect(&mut channel, &Hello::new(Role::Worker, &program)).await?;
        Ok(channel)
    }

    async fn serve_jobs(&self, channel: &mut FramedSocket, stop: &mut watch::Receiver<bool>) -> ConnectionEnd {
        loop {
            let job = tokio::select! {
                biased;
                () = wait_for_stop(stop) => {
                    // The server may already be gone.
                    drop(send(channel, &FromWorker::Leaves).await);
                    return ConnectionEnd::Stopped;
                }
                job = channel.receive(JOB_BYTES_MAX) => job,
            };
            let done = match job {
                Ok(Some(job)) => self.serve_job(channel, &job).await,
                Ok(None) => Err(ConnectionEnd::Failed(FrameError::Cut)),
                Err(error) => Err(error.into()),
            };
            if let Err(end) = done {
                return end;
            }
        }
    }

    /// Builds a job and sends its result. A server that closes the connection cancels the job.
    async fn serve_job(&self, channel: &mut FramedSocket, job: &[u8]) -> Result<(), ConnectionEnd> {
        let _counted = CountedBuild::begin(&self.building);
        let (sender, mut reports) = mpsc::unbounded_channel::<BuildReport>();
        // The receiver exists until the build has ended.
        let progress = BuildProgress::to(move |report| drop(sender.send(report)));
        let mut making = pin!(self.make(job, progress));
        let made = loop {
            tokio::select! {
                biased;
                Some(report) = reports.recv() => send(channel, &FromWorker::Report(report.into())).await?,
                made = &mut making => break made,
                received = channel.receive(0) => return Err(received.err().unwrap_or(FrameError::Cut).into()),
            }
        };
        while let Ok(report) = reports.try_recv() {
            send(channel, &FromWorker::Report(report.into())).await?;
        }
        match made {
            Ok(made) => {
                send(channel, &FromWorker::Output(protocol::OutputMessage::of(&made))).await?;
                for bytes in made.artifact.snapshot().into_iter().chain([made.artifact.bytes()]) {
                    channel.send(bytes).await.map_err(FrameError::from)?;
                }
                Ok(())
            }
            Err(error) => send(channel, &FromWorker::Failed(error.into())).await,
        }
    }

    async fn make(&self, job: &[u8], progress: BuildProgress) -> Result<ToolchainOutput, Error> {
        let Job { files, caches } = postcard::from_bytes(job).map_err(Error::internal)?;
        let documents = Documents::read(&files, Parser { command: &self.parser }).await?;
        let manifest = Manifest::read(&documents, &files)?;
        let derive_schema = manifest.input_schema.is_none();
        let project = Project { manifest: &manifest, documents: &documents, files, derive_schema, caches };
        self.toolchains.make(project, &progress).await
    }
}

async fn send(channel: &mut FramedSocket, message: &FromWorker) -> Result<(), ConnectionEnd> {
    let frame = postcard::to_allocvec(message).map_err(|error| FrameError::Socket(std::io::Error::other(error)))?;
    Ok(channel.send(&frame).await.map_err(FrameError::from)?)
}

/// Waits for the order to stop. A sender that is gone counts as the order.
async fn wait_for_stop(stop: &mut watch::Receiver<bool>) {
    drop(stop.wait_for(|stop| *stop).await);
}
