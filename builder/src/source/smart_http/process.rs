//! The child process: `git http-backend` with an environment made from nothing, its limits, and its end.
//!
//! Three tasks live beside a request: one feeds the body to git, one keeps the first of git's error output for the
//! log, and one waits for the end, or brings it about when the client has gone or time is up. Everything that git
//! starts is in one process group, and the group is stopped as a whole.

use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::{sleep, timeout};

use super::super::leftovers::remove_quarantines;
use super::super::pre_receive::ORGANIZATION_VARIABLE;
use super::super::{GitProgram, Repositories, Repository, SourceError};
use super::PROCESSES_PER_ORGANIZATION_MAX;
use super::request::{GitRequest, Service};
use super::response::{GitBody, GitResponse, read_head};

/// A whole request: 100 MiB at the rate of a slow line (1.5 Mbit/s), up or down.
const WALL_TIME_MAX: Duration = Duration::from_secs(600);
/// Silence within a body. The door in front is stricter and can tell the client; this is for a door that is not.
const BODY_SILENCE_MAX: Duration = Duration::from_secs(60);
/// After a polite signal, git removes its locks; it needs milliseconds.
const GRACE: Duration = Duration::from_secs(2);
/// Between two looks at whether a stopped group is empty.
const GROUP_POLL: Duration = Duration::from_millis(10);
/// Error output kept for the log: git's fatal messages are a line or two.
const ERROR_OUTPUT_BYTES_MAX: u64 = 4 * 1024;
/// One read of the body.
const BUFFER_BYTES: usize = 64 * 1024;
/// Starts git under soft limits of 60 processor seconds per process (a full clone of the largest repository takes a
/// few), 2 GiB of address space (a delta that inflates to more ends in git's own "out of memory") and no core dumps.
/// A system that knows one of the limits not goes without it.
const LIMITED_START: &str =
    "ulimit -S -c 0 2>/dev/null; ulimit -S -t 60 2>/dev/null; ulimit -S -v 2097152 2>/dev/null; exec \"$@\"";

/// A running `git http-backend`.
pub(super) struct Backend {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Dropping it stops git.
    client: oneshot::Sender<()>,
    /// Stops git from the side of the request's body.
    overrun: oneshot::Sender<()>,
    stopped: Arc<AtomicBool>,
}

/// What the supervising task holds until git has ended.
struct Supervised {
    child: Child,
    repository: Repository,
    client: oneshot::Receiver<()>,
    overrun: oneshot::Receiver<()>,
    stopped: Arc<AtomicBool>,
    /// Given back only when no process is left.
    turn: OwnedSemaphorePermit,
}

/// The command with its whole environment; nothing of the server's own is inherited but PATH.
pub(super) fn command(
    git: &GitProgram,
    repositories: &Repositories,
    repository: &Repository,
    request: &GitRequest,
    service: Service,
) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", LIMITED_START, "git"]).arg(git.path()).arg("http-backend");
    command.env_clear().current_dir(repositories.root());
    command.env("PATH", git.search_path()).env("LC_ALL", "C");
    command.env("PATH_TRANSLATED", repository.path().join(service.path()));
    command.env("GIT_HTTP_EXPORT_ALL", "1").env("REMOTE_ADDR", "-");
    command.env("REMOTE_USER", &request.remote_user).env("REQUEST_METHOD", &request.method);
    command.env("QUERY_STRING", &request.query).env(ORGANIZATION_VARIABLE, request.organization.as_str());
    command.env("CONTENT_TYPE", request.content_type.as_deref().unwrap_or_default());
    if let Some(bytes) = request.content_length {
        command.env("CONTENT_LENGTH", bytes.to_string());
    }
    if request.is_gzip() {
        command.env("HTTP_CONTENT_ENCODING", "gzip");
    }
    if let Some(protocol) = request.protocol() {
        command.env("GIT_PROTOCOL", protocol);
    }
    set_configuration(&mut command, repositories, repository);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0).kill_on_drop(true);
    command
}

/// Settings that must hold whatever the machine's or the repository's own configuration says.
fn set_configuration(command: &mut Command, repositories: &Repositories, repository: &Repository) {
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    let fixed = super::super::repository_files::SETTINGS.iter();
    command.env("GIT_CONFIG_COUNT", (fixed.len() + 2).to_string());
    command.env("GIT_CONFIG_KEY_0", "safe.directory").env("GIT_CONFIG_VALUE_0", repository.path());
    command.env("GIT_CONFIG_KEY_1", "core.hooksPath").env("GIT_CONFIG_VALUE_1", repositories.hooks());
    for (number, (name, value)) in (2..).zip(fixed) {
        command.env(format!("GIT_CONFIG_KEY_{number}"), name).env(format!("GIT_CONFIG_VALUE_{number}"), value);
    }
}

impl Backend {
    /// Starts git and its supervising task.
    pub(super) fn start(
        mut command: Command,
        repository: Repository,
        turn: OwnedSemaphorePermit,
    ) -> Result<Self, SourceError> {
        let mut child = command.spawn().map_err(SourceError::io("start git"))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(SourceError::BackendReply { detail: "it has no pipes" });
        };
        let (client, client_gone) = oneshot::channel();
        let (overrun, body_overran) = oneshot::channel();
        let stopped = Arc::new(AtomicBool::new(false));
        let supervised = Supervised {
            child,
            repository,
            client: client_gone,
            overrun: body_overran,
            stopped: Arc::clone(&stopped),
            turn,
        };
        tokio::spawn(supervised.run(errors));
        Ok(Self { input, output: BufReader::with_capacity(BUFFER_BYTES, output), client, overrun, stopped })
    }

    /// Feeds the body to git and reads the head of its answer.
    pub(super) async fn answer(
        mut self,
        body: impl AsyncRead + Send + Unpin + 'static,
        body_bytes_max: u64,
    ) -> Result<GitResponse, SourceError> {
        tokio::spawn(feed(body, self.input, body_bytes_max, self.overrun));
        let head = read_head(&mut self.output).await;
        if head.is_err() && self.stopped.load(Ordering::SeqCst) {
            return Err(SourceError::BodyCutOff);
        }
        let head = head?;
        let body = GitBody::new(self.output, self.client, self.stopped);
        Ok(GitResponse { status: head.status, headers: head.headers, body })
    }
}

/// Copies the body to git until its end. Git is stopped when the body breaks off, stalls or is too long, and left
/// alone when it closes its input first: it has then read all it wants.
async fn feed(mut body: impl AsyncRead + Unpin, mut input: ChildStdin, bytes_max: u64, overrun: oneshot::Sender<()>) {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut bytes_sum = 0;
    loop {
        let bytes = match timeout(BODY_SILENCE_MAX, body.read(&mut buffer)).await {
            Ok(Ok(0)) => return,
            Ok(Ok(bytes)) => bytes,
            Ok(Err(_)) | Err(_) => break,
        };
        bytes_sum += bytes as u64;
        if bytes_sum > bytes_max {
            break;
        }
        if input.write_all(&buffer[..bytes]).await.is_err() {
            return;
        }
    }
    overrun.send(()).unwrap_or_default();
}

impl Supervised {
    async fn run(mut self, errors: ChildStderr) {
        let errors = tokio::spawn(read_errors(errors));
        let status = self.wait().await;
        // A grandchild that outlives the group's end could hold the pipe open.
        let errors = timeout(GRACE, errors).await.ok().and_then(Result::ok).unwrap_or_default();
        self.clean().await;
        let organization = self.repository.organization();
        let stopped = self.stopped.load(Ordering::SeqCst);
        if !stopped && status.is_some_and(|status| status.success()) {
            tracing::debug!(%organization, errors, "git ended");
        } else {
            tracing::warn!(%organization, ?status, stopped, errors, "git ended early");
        }
    }

    /// Removes what a stopped push left, now that this one is over and if no other process runs beside it. Otherwise
    /// the next one does.
    async fn clean(&self) {
        let others = u32::from(PROCESSES_PER_ORGANIZATION_MAX) - 1;
        let Ok(_all_others) = self.turn.semaphore().try_acquire_many(others) else { return };
        let path = self.repository.path().to_owned();
        // A panic in there would have been reported already.
        tokio::task::spawn_blocking(move || remove_quarantines(&path)).await.unwrap_or_default();
    }

    async fn wait(&mut self) -> Option<ExitStatus> {
        let deadline = sleep(WALL_TIME_MAX);
        let overrun = async { (&mut self.overrun).await.is_ok() };
        let gone = async { (&mut self.client).await.is_err() };
        tokio::pin!(deadline, overrun, gone);
        let (mut watch_body, mut watch_client) = (true, true);
        loop {
            tokio::select! {
                status = self.child.wait() => return status.ok(),
                overran = &mut overrun, if watch_body => if overran { break } else { watch_body = false },
                gone = &mut gone, if watch_client => if gone { break } else { watch_client = false },
                () = &mut deadline => break,
            }
        }
        self.stopped.store(true, Ordering::SeqCst);
        stop(&mut self.child).await
    }
}

/// Ends the whole group: politely, so that git removes its locks, then without asking.
async fn stop(child: &mut Child) -> Option<ExitStatus> {
    let group = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw)?;
    // An error only says that nobody is left.
    killpg(group, Signal::SIGTERM).unwrap_or_default();
    let ended = timeout(GRACE, async {
        let status = child.wait().await.ok();
        while killpg(group, None).is_ok() {
            sleep(GROUP_POLL).await;
        }
        status
    });
    if let Ok(status) = ended.await {
        return status;
    }
    killpg(group, Signal::SIGKILL).unwrap_or_default();
    child.wait().await.ok()
}

async fn read_errors(errors: ChildStderr) -> String {
    let mut kept = Vec::new();
    let mut limited = errors.take(ERROR_OUTPUT_BYTES_MAX);
    if limited.read_to_end(&mut kept).await.is_ok() {
        // The rest is read and dropped, so that git never waits for somebody to read it.
        tokio::io::copy(&mut limited.into_inner(), &mut tokio::io::sink()).await.unwrap_or_default();
    }
    String::from_utf8_lossy(&kept).trim_end().to_owned()
}
