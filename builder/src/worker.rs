//! The process of `lathe worker`: makes what runs out of projects, for a server on the same machine.
//!
//! It has no database, no key of the server's and no repository. One connection is one job at a time.

mod room;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use runner::Compiler;
use tokio::net::UnixStream;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::Config;
use crate::error::Error;
use crate::images::Images;
use crate::progress::{Progress, Told};
use crate::steps::manifest::Manifest;
use crate::toolchain::{self, Made, Project};
use crate::workbench::Workbench;
use crate::workers::Place;
use crate::workers::channel::{Channel, ChannelError};
use crate::workers::hello::{GreetingError, Hello, Role, greet};
use crate::workers::wire::{self, FromWorker, JOB_BYTES_MAX};
use room::Room;
pub use room::sweep as sweep_rooms;

/// Between two tries to reach a server, which may be starting again.
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Why a worker ends that was not told to.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error(transparent)]
    Refused(GreetingError),
    #[error("{} is another user's: run the worker as the user of the server", socket.display())]
    Forbidden { socket: PathBuf },
    #[error(transparent)]
    Build(#[from] Error),
}

/// A process that builds for a server.
#[derive(Clone)]
pub struct Worker {
    workbench: Workbench,
    place: Place,
    connected: watch::Sender<usize>,
}

/// Why a connection was given up.
enum Lost {
    /// The worker was told to end.
    Stopped,
    Gone(ChannelError),
}

impl From<ChannelError> for Lost {
    fn from(error: ChannelError) -> Self {
        Self::Gone(error)
    }
}

impl Worker {
    /// Takes a directory for what builds have in hand, which ends with the second value.
    ///
    /// # Errors
    /// When an image is damaged, or a directory cannot be used.
    pub fn open(config: Config, compiler: Compiler, place: Place) -> Result<(Self, Room), Error> {
        let room = Room::take(&place.scratch()).map_err(Error::internal)?;
        let config = Config { scratch_dir: room.path().to_owned(), ..config };
        let workbench = Workbench::open(config, Images::unstored(compiler)?)?;
        Ok((Self { workbench, place, connected: watch::Sender::new(0) }, room))
    }

    /// What builds need of this machine.
    #[must_use]
    pub const fn workbench(&self) -> &Workbench {
        &self.workbench
    }

    /// How many of its connections the server has accepted.
    #[must_use]
    pub fn connected(&self) -> watch::Receiver<usize> {
        self.connected.subscribe()
    }

    /// Builds, so many jobs at a time, until it is stopped. Jobs that it has by then come to their end.
    ///
    /// # Errors
    /// When the server does not want it, which another try would not change.
    pub async fn serve(&self, jobs: usize, stop: watch::Receiver<bool>) -> Result<(), WorkerError> {
        let mut seats = JoinSet::new();
        for _ in 0..jobs {
            let (worker, stop) = (self.clone(), stop.clone());
            seats.spawn(async move { worker.attend(stop).await });
        }
        while let Some(ended) = seats.join_next().await {
            ended.map_err(Error::internal)??;
        }
        Ok(())
    }

    /// One job after the other, on one connection after the other.
    async fn attend(&self, mut stop: watch::Receiver<bool>) -> Result<(), WorkerError> {
        let mut pause = PAUSE_MIN;
        while !*stop.borrow() {
            match self.connect().await {
                Ok(mut channel) => {
                    pause = PAUSE_MIN;
                    self.connected.send_modify(|count| *count += 1);
                    let Lost::Gone(error) = self.jobs(&mut channel, &mut stop).await else { return Ok(()) };
                    self.connected.send_modify(|count| *count -= 1);
                    tracing::info!(%error, "the server is gone");
                }
                Err(GreetingError::Channel(ChannelError::Socket(error)))
                    if error.kind() == ErrorKind::PermissionDenied =>
                {
                    return Err(WorkerError::Forbidden { socket: self.place.socket() });
                }
                Err(refused @ GreetingError::Refused { .. }) => return Err(WorkerError::Refused(refused)),
                Err(error) if pause == PAUSE_MIN => {
                    tracing::info!(%error, socket = %self.place.socket().display(), "no server is there yet that has external build workers");
                }
                Err(error) => tracing::debug!(%error, "no server is there"),
            }
            tokio::select! {
                () = stopped(&mut stop) => break,
                () = tokio::time::sleep(pause) => pause = PAUSE_MAX.min(pause * 2),
            }
        }
        Ok(())
    }

    async fn connect(&self) -> Result<Channel, GreetingError> {
        let program = self.place.digest().await.map_err(|error| GreetingError::Strange(error.to_string()))?;
        let stream = UnixStream::connect(self.place.socket()).await.map_err(ChannelError::from)?;
        let mut channel = Channel::new(stream);
        greet(&mut channel, &Hello::new(Role::Worker, &program)).await?;
        Ok(channel)
    }

    async fn jobs(&self, channel: &mut Channel, stop: &mut watch::Receiver<bool>) -> Lost {
        loop {
            let job = tokio::select! {
                biased;
                () = stopped(stop) => {
                    // A server that is gone needs no farewell.
                    drop(say(channel, &FromWorker::Leaves).await);
                    return Lost::Stopped;
                }
                job = channel.receive(JOB_BYTES_MAX) => job,
            };
            let done = match job {
                Ok(Some(job)) => self.job(channel, &job).await,
                Ok(None) => Err(Lost::Gone(ChannelError::Cut)),
                Err(error) => Err(error.into()),
            };
            if let Err(lost) = done {
                return lost;
            }
        }
    }

    /// One job, given up when the server goes away.
    async fn job(&self, channel: &mut Channel, job: &[u8]) -> Result<(), Lost> {
        let (sender, mut reports) = mpsc::unbounded_channel::<Told>();
        // The receiver lives as long as the work.
        let progress = Progress::to(move |told| drop(sender.send(told)));
        let mut making = pin!(self.make(job, progress));
        let made = loop {
            tokio::select! {
                biased;
                Some(told) = reports.recv() => say(channel, &FromWorker::Told(told.into())).await?,
                made = &mut making => break made,
                said = channel.receive(0) => return Err(said.err().unwrap_or(ChannelError::Cut).into()),
            }
        };
        while let Ok(told) = reports.try_recv() {
            say(channel, &FromWorker::Told(told.into())).await?;
        }
        match made {
            Ok(made) => {
                say(channel, &FromWorker::Made(wire::Made::of(&made))).await?;
                for bytes in made.artefact.snapshot().into_iter().chain([made.artefact.bytes()]) {
                    channel.send(bytes).await.map_err(ChannelError::from)?;
                }
                Ok(())
            }
            Err(error) => say(channel, &FromWorker::Failed(error.into())).await,
        }
    }

    async fn make(&self, job: &[u8], progress: Progress) -> Result<Made, Error> {
        let files: BTreeMap<String, Vec<u8>> = postcard::from_bytes(job).map_err(Error::internal)?;
        let manifest = Manifest::read(&files)?;
        let derive_schema = manifest.input_schema.is_none();
        let project = Project { manifest: &manifest, files, derive_schema };
        toolchain::make(project, &self.workbench, &progress).await
    }
}

async fn say(channel: &mut Channel, message: &FromWorker) -> Result<(), Lost> {
    let frame = postcard::to_allocvec(message).map_err(|error| ChannelError::Socket(std::io::Error::other(error)))?;
    Ok(channel.send(&frame).await.map_err(ChannelError::from)?)
}

/// Whoever could say so and is gone means the same.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    drop(stop.wait_for(|stop| *stop).await);
}
