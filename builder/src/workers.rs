//! The server's side of `lathe worker`: builds in separate processes.
//!
//! A worker turns a project's files into a component. The server reads the tree and the declarations, stores and signs.
//! A build may compromise its worker, so that the server trusts no message: names come from fixed sets, sizes are bounded,
//! and results are verified.

pub mod handshake;
mod known_names;
mod listener;
mod pool;
pub mod protocol;
pub mod scratch_lease;
mod session;
mod verify;
mod violation;

use std::sync::Arc;

use registry::OrganizationId;
use tokio::task::AbortHandle;

use crate::blocking::blocking;
use crate::conventions::find_convention;
use crate::error::Error;
use crate::images::Images;
use crate::metrics;
use crate::progress::BuildProgress;
use crate::toolchain::pinned::PinnedPackages;
use crate::toolchain::project::{Project, ToolchainOutput};
use crate::worker_endpoint::WorkerEndpoint;
use listener::Acceptor;
use pool::{JobOutcome, Pool, RETRY_AFTER};
use protocol::Job;
use verify::{Rejection, Verifier};

/// Attempts of one build. Another build may have killed the first worker; a build that ends two workers is not tried on a
/// third.
const ATTEMPTS_MAX: u32 = 2;

/// The workers of a server. Clones share them; the last one closes the socket.
#[derive(Clone)]
pub struct Workers {
    shared: Arc<WorkerServer>,
    images: Images,
    /// The organisation of the jobs. `None` where there is only one.
    organization: Option<OrganizationId>,
}

struct WorkerServer {
    pool: Arc<Pool>,
    accepting: AbortHandle,
}

impl Workers {
    /// Accepts workers at an endpoint that no other server uses.
    ///
    /// # Errors
    /// When the socket cannot be made.
    pub fn listen(endpoint: WorkerEndpoint, images: Images) -> Result<Self, Error> {
        Self::listen_with(endpoint, images, Pool::default())
    }

    fn listen_with(endpoint: WorkerEndpoint, images: Images, pool: Pool) -> Result<Self, Error> {
        let pool = Arc::new(pool);
        metrics::record_workers(0);
        let listener = listener::bind(&endpoint)?;
        let acceptor = Acceptor { endpoint, pool: pool.clone() };
        let accepting = tokio::spawn(acceptor.run(listener)).abort_handle();
        Ok(Self { shared: Arc::new(WorkerServer { pool, accepting }), images, organization: None })
    }

    /// The same workers for the jobs of an organisation.
    #[must_use]
    pub fn of(&self, organization: &OrganizationId) -> Self {
        Self { organization: Some(organization.clone()), ..self.clone() }
    }

    /// Has a worker build a project's component.
    ///
    /// # Errors
    /// When a stage refuses the project, or workers are missing or lost.
    pub async fn make(&self, project: Project<'_>, progress: &BuildProgress) -> Result<ToolchainOutput, Error> {
        let language = project.manifest.language;
        let pinned = match PinnedPackages::of(&project).await {
            Err(error) if !matches!(error, Error::Failed { .. }) => return Err(error),
            pinned => pinned,
        };
        let job = Job { files: project.files, caches: project.caches };
        let job: Arc<[u8]> = blocking(move || job.encode()).await??.into();
        if find_convention(language).is_some_and(|convention| convention.image.is_some()) {
            // The server needs the image to verify the result, and prepares it while the worker builds.
            let images = self.images.clone();
            tokio::spawn(async move { drop(images.prepare(language).await) });
        }
        let verifier = Verifier { language, images: &self.images, pinned: &pinned };
        let mut attempts = 0;
        while attempts < ATTEMPTS_MAX {
            let reason = match self.shared.pool.submit(self.organization.as_ref(), job.clone(), progress).await? {
                JobOutcome::Output(made, bytes, rejected) => match verifier.verify(made, bytes).await {
                    Ok(made) => return Ok(made),
                    Err(Rejection::Refused(error)) => return Err(error),
                    Err(Rejection::Violation(violation)) => {
                        let reason = violation.0.clone();
                        // The worker may have left.
                        drop(rejected.send(violation));
                        reason
                    }
                },
                JobOutcome::Failed(error) => return Err(error),
                JobOutcome::Declined => continue,
                JobOutcome::Lost { reason } => reason,
            };
            attempts += 1;
            metrics::count_lost_worker();
            tracing::warn!(reason, attempts, "a build worker was lost during a build");
            progress.line("the build worker ended during this build; another worker starts it again");
        }
        Err(Error::WorkerLost { retry_after: RETRY_AFTER })
    }
}

impl Drop for WorkerServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use registry::Language;
    use runner::{Compiler, FramedSocket};
    use tempfile::TempDir;
    use tokio::net::UnixStream;

    use super::handshake::{Hello, Role};
    use super::pool::PoolTimeouts;
    use super::protocol::{
        BLOB_BYTES_MAX, Failure, FromWorker, JOB_BYTES_MAX, Kind, MESSAGE_BYTES_MAX, PackageMessage, ReportMessage,
        SNAPSHOT_BYTES_MAX,
    };
    use super::*;
    use crate::progress::{BuildEvent, StepState};

    /// The deadline of a test that would not end.
    const DEADLINE: Duration = Duration::from_secs(300);

    const WITH_SNAPSHOT: Kind = Kind::Bundle { image: [1; 32], has_snapshot: true };

    /// A server, and a worker that sends what a test wants.
    struct Pair {
        workers: Workers,
        worker: FramedSocket,
        endpoint: WorkerEndpoint,
        _directory: TempDir,
    }

    impl Pair {
        async fn new() -> Self {
            Self::with(Pool::default()).await
        }

        async fn with(pool: Pool) -> Self {
            let directory = tempfile::tempdir().unwrap();
            let program = directory.path().join("program");
            std::fs::write(&program, "a program").unwrap();
            let endpoint = WorkerEndpoint::new(directory.path().join("workers"), program.to_str().unwrap());
            let workers = Workers::listen_with(endpoint.clone(), images(directory.path()), pool).unwrap();
            let worker = connect(&endpoint).await;
            Self { workers, worker, endpoint, _directory: directory }
        }

        /// Submits a job while the worker behaves as the test wants.
        async fn job(&mut self, progress: &BuildProgress, behave: impl AsyncFnOnce(&mut FramedSocket)) -> JobOutcome {
            let worker = &mut self.worker;
            let behaving = async {
                assert_eq!(worker.receive(JOB_BYTES_MAX).await.unwrap().as_deref(), Some(&b"job"[..]));
                behave(worker).await;
            };
            let job: Arc<[u8]> = b"job"[..].into();
            tokio::join!(self.workers.shared.pool.submit(None, job, progress), behaving).0.unwrap()
        }
    }

    fn images(directory: &std::path::Path) -> Images {
        let config = runner::Config::new(directory.to_owned(), [7; 32], "/bin/false");
        Images::unstored(Compiler::open(&config).unwrap())
    }

    async fn connect(endpoint: &WorkerEndpoint) -> FramedSocket {
        let mut channel = FramedSocket::new(UnixStream::connect(endpoint.socket()).await.unwrap());
        let hello = Hello::new(Role::Worker, &endpoint.digest().await.unwrap());
        handshake::connect(&mut channel, &hello).await.unwrap();
        channel
    }

    async fn is_disconnected(worker: &mut FramedSocket) {
        let received = tokio::time::timeout(DEADLINE, worker.receive(1)).await;
        assert!(!matches!(received.expect("the connection ends"), Ok(Some(_))));
    }

    fn bytes(message: &FromWorker) -> Vec<u8> {
        postcard::to_allocvec(message).unwrap()
    }

    fn line(length: usize) -> Vec<u8> {
        bytes(&FromWorker::Report(ReportMessage::Line { line: "x".repeat(length) }))
    }

    fn started(step: &str) -> Vec<u8> {
        bytes(&FromWorker::Report(ReportMessage::Started { step: step.into() }))
    }

    fn of(artifact: &[u8]) -> protocol::Bytes {
        protocol::Bytes { snapshot: None, artifact: artifact.into() }
    }

    fn made(kind: Kind) -> Vec<u8> {
        bytes(&FromWorker::Output(protocol::OutputMessage { kind, packages: Vec::new(), input_schema: None }))
    }

    #[tokio::test]
    async fn reports_of_a_worker_reach_the_progress_and_it_gets_the_next_job() {
        let mut pair = Pair::new().await;
        let (progress, mut events) = BuildProgress::channel();
        for _ in 0..2 {
            let answer = pair.job(&progress, async |worker| {
                worker.send(&started("compile")).await.unwrap();
                worker.send(&line(3)).await.unwrap();
                let failure = Some("no".to_owned());
                let ended = ReportMessage::Ended { step: "compile".into(), duration_ms: 7, failure };
                worker.send(&bytes(&FromWorker::Report(ended))).await.unwrap();
                worker.send(&made(Kind::Component)).await.unwrap();
                worker.send(b"component").await.unwrap();
            });
            let JobOutcome::Output(made, bytes, _) = answer.await else { panic!("it was made") };
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
    async fn protocol_violations_end_the_connection() {
        let step = |failure| bytes(&FromWorker::Failed(failure));
        let named = |stage: &str| Failure::Project {
            stage: stage.into(),
            check: "check".into(),
            message: "message".into(),
            file: None,
            line: None,
        };
        for (frames, expected) in [
            (vec![started("root")], "which is not one of"),
            (vec![step(named("publish"))], "which is not one of"),
            (vec![vec![9]], "malformed message"),
            (vec![Vec::new()], "malformed message"),
            (vec![[line(1), vec![0]].concat()], "bytes after a message"),
            (vec![line(MESSAGE_BYTES_MAX)], "limit"),
            (vec![line(1), bytes(&FromWorker::Leaves)], "left during a job"),
            (vec![line(60_000); 80], "more reports than any build"),
            (vec![line(0); 10_001], "more reports than any build"),
            (vec![made(Kind::Component), vec![0; BLOB_BYTES_MAX + 1]], "limit"),
            (vec![made(WITH_SNAPSHOT), vec![0; SNAPSHOT_BYTES_MAX + 1]], "limit"),
            (vec![made(WITH_SNAPSHOT), vec![0; 9], vec![0; BLOB_BYTES_MAX + 1]], "limit"),
        ] {
            let (mut pair, progress) = (Pair::new().await, BuildProgress::none());
            let answer = pair.job(&progress, async |worker| {
                for frame in &frames {
                    // The server may have closed the connection.
                    drop(worker.send(frame).await);
                }
                is_disconnected(worker).await;
            });
            let JobOutcome::Lost { reason } = answer.await else { panic!("it is lost: {expected}") };
            assert!(reason.contains(expected), "{reason:?} does not contain {expected:?}");
            assert_eq!(pair.workers.shared.pool.counts(), (0, 0));
        }
    }

    #[tokio::test]
    async fn a_worker_that_leaves_before_its_first_report_has_declined_the_job() {
        let (mut pair, progress) = (Pair::new().await, BuildProgress::none());
        let answer = pair.job(&progress, async |worker| {
            worker.send(&bytes(&FromWorker::Leaves)).await.unwrap();
        });
        assert!(matches!(answer.await, JobOutcome::Declined));
    }

    /// A build that times out cancels the job of a worker that hangs.
    #[tokio::test]
    async fn a_cancelled_job_ends_the_connection() {
        let mut pair = Pair::new().await;
        let progress = BuildProgress::none();
        let job = pair.workers.shared.pool.submit(None, b"job"[..].into(), &progress);
        // The future is dropped once the worker has the job.
        tokio::select! {
            _ = job => panic!("the job has not ended"),
            received = pair.worker.receive(JOB_BYTES_MAX) => assert!(received.unwrap().is_some()),
        }
        is_disconnected(&mut pair.worker).await;
        // Another worker can connect.
        pair.worker = connect(&pair.endpoint).await;
        let answer = pair.job(&progress, async |worker| {
            let fault = Failure::Fault { message: "x".into() };
            worker.send(&bytes(&FromWorker::Failed(fault))).await.unwrap();
        });
        assert!(matches!(answer.await, JobOutcome::Failed(Error::Internal { .. })));
    }

    #[tokio::test]
    async fn a_worker_that_does_not_start_its_job_is_lost() {
        let moment = Duration::from_millis(50);
        let pool = Pool::new(PoolTimeouts { no_worker: DEADLINE, all_busy: DEADLINE, start: moment });
        let (mut pair, progress) = (Pair::with(pool).await, BuildProgress::none());
        let answer = pair.job(&progress, is_disconnected).await;
        let JobOutcome::Lost { reason } = answer else { panic!("it is lost") };
        assert!(reason.contains("did not start"), "{reason}");
    }

    #[tokio::test]
    async fn a_result_must_match_the_project_and_its_image() {
        let directory = tempfile::tempdir().unwrap();
        let images = images(directory.path());
        let image = *images.unpack_image(Language::Python).await.unwrap().digest.as_bytes();
        for (kind, language, expected) in [
            (Kind::Component, Language::Python, "another language"),
            (Kind::Bundle { image, has_snapshot: false }, Language::Rust, "another language"),
            (Kind::Bundle { image: [1; 32], has_snapshot: false }, Language::Python, "for the image sha256:0101"),
            (WITH_SNAPSHOT, Language::Python, "for the image sha256:0101"),
            (Kind::Bundle { image, has_snapshot: true }, Language::Python, "a snapshot that is not one of the image"),
            (Kind::Component, Language::Rust, "made no WebAssembly component"),
        ] {
            let snapshot = matches!(kind, Kind::Bundle { has_snapshot: true, .. }).then(|| b"bytes".to_vec());
            let made = protocol::OutputMessage { kind, packages: Vec::new(), input_schema: None };
            let verifier = Verifier { language, images: &images, pinned: &Ok(PinnedPackages::default()) };
            let reason = match verifier.verify(made, protocol::Bytes { snapshot, ..of(b"bytes") }).await {
                Err(Rejection::Violation(violation)) => violation.0,
                Err(Rejection::Refused(error)) => error.to_string(),
                Ok(_) => panic!("it is accepted: {expected}"),
            };
            assert!(reason.contains(expected), "{reason:?} does not contain {expected:?}");
        }
    }

    #[tokio::test]
    async fn packages_must_be_those_of_the_lock_file() {
        let directory = tempfile::tempdir().unwrap();
        let images = images(directory.path());
        let package = || PackageMessage { kind: "pypi".into(), name: "six".into(), version: "99.0".into(), hash: None };
        for (pinned, packages, expected) in [
            (Ok(PinnedPackages::default()), vec![package()], "other packages than those of the lock file"),
            (
                Err(Error::failed("dependencies", "lock-file", "it is missing")),
                Vec::new(),
                "it built a project that is refused",
            ),
        ] {
            let made = protocol::OutputMessage { kind: Kind::Component, packages, input_schema: None };
            let verifier = Verifier { language: Language::Rust, images: &images, pinned: &pinned };
            let Err(Rejection::Violation(violation)) = verifier.verify(made, of(b"bytes")).await else {
                panic!("it is accepted: {expected}")
            };
            assert!(violation.0.contains(expected), "{}", violation.0);
        }
    }
}
