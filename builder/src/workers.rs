//! Builds in processes of their own: the server's side of `lathe worker`.
//!
//! A worker makes what runs out of a project's files, and nothing else: the server reads the tree and its declarations,
//! stores and signs. What a worker says may come from a build that got at it, so that names are of closed sets, sizes have
//! bounds, and what it made is looked at again.

mod attend;
pub mod channel;
mod door;
pub mod hello;
mod names;
mod pool;
mod received;
pub mod wire;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use registry::{Digest, Language};
use tokio::sync::OnceCell;
use tokio::task::AbortHandle;

use crate::error::Error;
use crate::images::Images;
use crate::metrics;
use crate::progress::Progress;
use crate::toolchain::{Made, Project};
pub use hello::{Onlooked, look};
use pool::{Answer, Pool};
use received::{Unusable, received};

/// A worker that died may have been ended by a neighbour; a build that ends two is not tried on a third.
const ATTEMPTS_MAX: u32 = 2;
/// A worker is started again within seconds, where something watches over it.
pub const RETRY_AFTER: Duration = Duration::from_secs(5);
/// The socket, in a directory of its own that a worker can be given without the rest of the data.
const SOCKET: &str = "socket";
/// What builds of workers have in hand, beside it.
const SCRATCH: &str = "scratch";

/// How workers find a server, and are known by it.
#[derive(Debug, Clone)]
pub struct Place {
    directory: PathBuf,
    program: PathBuf,
    digest: Arc<OnceCell<Digest>>,
}

impl Place {
    /// `program` is the file that runs here; a worker has to be the same.
    #[must_use]
    pub fn new(directory: PathBuf, program: &str) -> Self {
        Self { directory, program: program.into(), digest: Arc::default() }
    }

    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.directory.join(SOCKET)
    }

    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        self.directory.join(SCRATCH)
    }

    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What this program is, computed once.
    ///
    /// # Errors
    /// When its file cannot be read.
    pub async fn digest(&self) -> Result<Digest, Error> {
        let program = self.program.clone();
        let compute = || async {
            let computed = tokio::task::spawn_blocking(move || hello::digest_of_file(&program));
            computed.await.map_err(Error::internal)?.map_err(Error::internal)
        };
        self.digest.get_or_try_init(compute).await.copied()
    }
}

/// The workers of a server. Clones are the same ones, and the socket goes with the last.
#[derive(Clone)]
pub struct Workers(Arc<Shared>);

struct Shared {
    pool: Arc<Pool>,
    door: AbortHandle,
}

impl Workers {
    /// Waits for workers at a place that no other server has.
    ///
    /// # Errors
    /// When there can be no socket.
    pub fn listen(place: Place) -> Result<Self, Error> {
        Self::listen_for(place, Pool::default())
    }

    fn listen_for(place: Place, pool: Pool) -> Result<Self, Error> {
        let pool = Arc::new(pool);
        metrics::workers(0);
        let listener = door::bind(&place)?;
        let door = tokio::spawn(door::keep(listener, place, pool.clone())).abort_handle();
        Ok(Self(Arc::new(Shared { pool, door })))
    }

    /// Has a worker make what runs.
    ///
    /// # Errors
    /// The first stage that refuses the project; that there is no worker; that those who tried are gone.
    pub async fn make(&self, project: Project<'_>, images: &Images, progress: &Progress) -> Result<Made, Error> {
        let job: Arc<[u8]> = wire::job(&project.files)?.into();
        if project.manifest.language == Language::JavaScript {
            // Its image is made when it is first needed, here as there; so both are at it at the same time.
            let images = images.clone();
            tokio::spawn(async move { drop(images.javascript().await) });
        }
        let mut attempts = 0;
        while attempts < ATTEMPTS_MAX {
            let reason = match self.0.pool.give(job.clone(), progress).await? {
                Answer::Made(made, bytes) => match received(made, bytes, project.manifest.language, images).await {
                    Ok(made) => return Ok(made),
                    Err(Unusable::Refused(error)) => return Err(error),
                    Err(Unusable::Breach(breach)) => breach.0,
                },
                Answer::Failed(error) => return Err(error),
                Answer::Declined => continue,
                Answer::Lost { reason } => reason,
            };
            attempts += 1;
            metrics::worker_lost();
            tracing::warn!(reason, attempts, "a build worker was lost in the midst of a build");
            progress.line("the build worker is gone, and what it did of this build with it");
        }
        Err(Error::WorkerLost { retry_after: RETRY_AFTER })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.door.abort();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use runner::Compiler;
    use tempfile::TempDir;
    use tokio::net::UnixStream;

    use super::channel::Channel;
    use super::hello::{Hello, Role, greet};
    use super::pool::Patience;
    use super::wire::{
        BLOB_BYTES_MAX, Failure, FromWorker, JOB_BYTES_MAX, Kind, MESSAGE_BYTES_MAX, Report, SNAPSHOT_BYTES_MAX,
    };
    use super::*;
    use crate::progress::{BuildEvent, StepState};

    const WITH_SNAPSHOT: Kind = Kind::Bundle { image: [1; 32], has_snapshot: true };

    /// A server's side, and a worker that says whatever a test wants.
    struct Scene {
        workers: Workers,
        worker: Channel,
        place: Place,
        _directory: TempDir,
    }

    impl Scene {
        async fn new() -> Self {
            Self::with(Pool::default()).await
        }

        async fn with(pool: Pool) -> Self {
            let directory = tempfile::tempdir().unwrap();
            let program = directory.path().join("program");
            std::fs::write(&program, "a program").unwrap();
            let place = Place::new(directory.path().join("workers"), program.to_str().unwrap());
            let workers = Workers::listen_for(place.clone(), pool).unwrap();
            let worker = come_in(&place).await;
            Self { workers, worker, place, _directory: directory }
        }

        /// Gives a job while the worker behaves as it does.
        async fn job(&mut self, progress: &Progress, behave: impl AsyncFnOnce(&mut Channel)) -> Answer {
            let worker = &mut self.worker;
            let behaving = async {
                assert_eq!(worker.receive(JOB_BYTES_MAX).await.unwrap().as_deref(), Some(&b"job"[..]));
                behave(worker).await;
            };
            let job: Arc<[u8]> = b"job"[..].into();
            tokio::join!(self.workers.0.pool.give(job, progress), behaving).0.unwrap()
        }
    }

    async fn come_in(place: &Place) -> Channel {
        let mut channel = Channel::new(UnixStream::connect(place.socket()).await.unwrap());
        greet(&mut channel, &Hello::new(Role::Worker, &place.digest().await.unwrap())).await.unwrap();
        channel
    }

    async fn is_sent_away(worker: &mut Channel) {
        let said = tokio::time::timeout(Duration::from_secs(20), worker.receive(1)).await;
        assert!(!matches!(said.expect("its connection ends"), Ok(Some(_))));
    }

    fn bytes(message: &FromWorker) -> Vec<u8> {
        postcard::to_allocvec(message).unwrap()
    }

    fn line(length: usize) -> Vec<u8> {
        bytes(&FromWorker::Told(Report::Line { line: "x".repeat(length) }))
    }

    fn started(step: &str) -> Vec<u8> {
        bytes(&FromWorker::Told(Report::Started { step: step.into() }))
    }

    fn of(artefact: &[u8]) -> wire::Bytes {
        wire::Bytes { snapshot: None, artefact: artefact.into() }
    }

    fn made(kind: Kind) -> Vec<u8> {
        bytes(&FromWorker::Made(wire::Made { kind, packages: Vec::new(), input_schema: None }))
    }

    #[tokio::test]
    async fn what_a_worker_tells_is_heard_as_if_it_were_here_and_it_gets_the_next_job() {
        let mut scene = Scene::new().await;
        let (progress, mut events) = Progress::channel();
        for _ in 0..2 {
            let answer = scene.job(&progress, async |worker| {
                worker.send(&started("compile")).await.unwrap();
                worker.send(&line(3)).await.unwrap();
                let failure = Some("no".to_owned());
                let ended = Report::Ended { step: "compile".into(), duration_ms: 7, failure };
                worker.send(&bytes(&FromWorker::Told(ended))).await.unwrap();
                worker.send(&made(Kind::Component)).await.unwrap();
                worker.send(b"component").await.unwrap();
            });
            let Answer::Made(made, bytes) = answer.await else { panic!("it was made") };
            assert_eq!((made.kind, bytes), (Kind::Component, of(b"component")));
            let step = |state| BuildEvent::Step { name: "compile", state };
            let log = BuildEvent::Log { line: "xxx".into() };
            for expected in [step(StepState::Started), log, step(StepState::Finished { duration_ms: 7 })] {
                assert_eq!(events.recv().await, Some(expected));
            }
        }
        assert_eq!(progress.log(), "xxx\ncompile: no\nxxx\ncompile: no\n");
    }

    #[tokio::test]
    async fn what_no_worker_says_ends_it() {
        let step = |failure| bytes(&FromWorker::Failed(failure));
        let named = |stage: &str| Failure::Project {
            stage: stage.into(),
            check: "check".into(),
            message: "message".into(),
            file: None,
            line: None,
        };
        for (frames, expected) in [
            (vec![started("root")], "none of"),
            (vec![step(named("publish"))], "none of"),
            (vec![vec![9]], "no message"),
            (vec![Vec::new()], "no message"),
            (vec![[line(1), vec![0]].concat()], "bytes behind a message"),
            (vec![line(MESSAGE_BYTES_MAX)], "limit"),
            (vec![line(1), bytes(&FromWorker::Leaves)], "in the midst"),
            (vec![line(60_000); 80], "more than any build"),
            (vec![line(0); 10_001], "more than any build"),
            (vec![made(Kind::Component), vec![0; BLOB_BYTES_MAX + 1]], "limit"),
            (vec![made(WITH_SNAPSHOT), vec![0; SNAPSHOT_BYTES_MAX + 1]], "limit"),
            (vec![made(WITH_SNAPSHOT), vec![0; 9], vec![0; BLOB_BYTES_MAX + 1]], "limit"),
        ] {
            let (mut scene, progress) = (Scene::new().await, Progress::none());
            let answer = scene.job(&progress, async |worker| {
                for frame in &frames {
                    // The server may have had enough.
                    drop(worker.send(frame).await);
                }
                is_sent_away(worker).await;
            });
            let Answer::Lost { reason } = answer.await else { panic!("it is lost: {expected}") };
            assert!(reason.contains(expected), "{reason:?} does not contain {expected:?}");
            assert_eq!(scene.workers.0.pool.counts(), (0, 0));
        }
    }

    #[tokio::test]
    async fn a_worker_that_leaves_with_its_job_unbegun_has_declined_it() {
        let (mut scene, progress) = (Scene::new().await, Progress::none());
        let answer = scene.job(&progress, async |worker| {
            worker.send(&bytes(&FromWorker::Leaves)).await.unwrap();
        });
        assert!(matches!(answer.await, Answer::Declined));
    }

    /// At the end of a build's time, for a worker that hangs.
    #[tokio::test]
    async fn a_job_that_nobody_waits_for_ends_its_connection() {
        let mut scene = Scene::new().await;
        let progress = Progress::none();
        let job = scene.workers.0.pool.give(b"job"[..].into(), &progress);
        assert!(tokio::time::timeout(Duration::from_millis(50), job).await.is_err());
        assert!(scene.worker.receive(JOB_BYTES_MAX).await.unwrap().is_some());
        is_sent_away(&mut scene.worker).await;
        // Its place is another's.
        scene.worker = come_in(&scene.place).await;
        let answer = scene.job(&progress, async |worker| {
            let fault = Failure::Fault { message: "x".into() };
            worker.send(&bytes(&FromWorker::Failed(fault))).await.unwrap();
        });
        assert!(matches!(answer.await, Answer::Failed(Error::Internal { .. })));
    }

    #[tokio::test]
    async fn a_worker_that_does_not_begin_is_lost() {
        let (second, moment) = (Duration::from_secs(1), Duration::from_millis(50));
        let pool = Pool::new(Patience { none_there: second, all_busy: second, begun: moment });
        let (mut scene, progress) = (Scene::with(pool).await, Progress::none());
        let answer = scene.job(&progress, is_sent_away).await;
        let Answer::Lost { reason } = answer else { panic!("it is lost") };
        assert!(reason.contains("did not begin"), "{reason}");
    }

    #[tokio::test]
    async fn what_was_made_has_to_be_of_the_project_and_its_image() {
        let directory = tempfile::tempdir().unwrap();
        let config = runner::Config::new(directory.path().to_owned(), [7; 32], "/bin/false");
        let images = Images::unstored(Compiler::open(&config).unwrap()).unwrap();
        let image = *images.python().digest.as_bytes();
        for (kind, language, expected) in [
            (Kind::Component, Language::Python, "another language"),
            (Kind::Bundle { image, has_snapshot: false }, Language::Rust, "another language"),
            (Kind::Bundle { image: [1; 32], has_snapshot: false }, Language::Python, "for the image sha256:0101"),
            (WITH_SNAPSHOT, Language::Python, "for the image sha256:0101"),
            (Kind::Bundle { image, has_snapshot: true }, Language::Python, "a snapshot that is none of the image"),
            (Kind::Component, Language::Rust, "made no WebAssembly component"),
        ] {
            let snapshot = matches!(kind, Kind::Bundle { has_snapshot: true, .. }).then(|| b"bytes".to_vec());
            let made = wire::Made { kind, packages: Vec::new(), input_schema: None };
            let reason = match received(made, wire::Bytes { snapshot, ..of(b"bytes") }, language, &images).await {
                Err(Unusable::Breach(breach)) => breach.0,
                Err(Unusable::Refused(error)) => error.to_string(),
                Ok(_) => panic!("it is taken: {expected}"),
            };
            assert!(reason.contains(expected), "{reason:?} does not contain {expected:?}");
        }
    }
}
