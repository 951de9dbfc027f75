//! The child process `git http-backend` of a request.
//!
//! Three tasks serve a request: one feeds the body to git, one reads git's error output for the log, and one waits for the
//! end, or stops git when the client has disconnected or the time is up. All processes of git are in one process group,
//! which is stopped as a whole.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::access::HeldResources;
use super::feed::feed;
use super::request::{BodyForm, GitRequest, Service};
use super::response::{GitBody, GitResponse, read_head};
use crate::bare::Repository;
use crate::error::Error;
use crate::git::{GitCommands, Priority};
use crate::push::{ORGANIZATION_VARIABLE, REPOSITORY_BYTES_VARIABLE};

/// Time of a request: 100 MiB in either direction over a slow line of 1.5 Mbit/s.
const WALL_TIME_MAX: Duration = Duration::from_secs(600);
/// Time between SIGTERM and SIGKILL. git removes its locks in milliseconds.
const GRACE: Duration = Duration::from_secs(2);
/// Time between two checks whether a stopped process group is empty.
const GROUP_POLL: Duration = Duration::from_millis(10);
/// Bytes of error output for the log; git's fatal messages have a line or two.
const ERROR_OUTPUT_BYTES_MAX: u64 = 4 * 1024;
/// Buffer for one read of git's response, in bytes.
const BUFFER_BYTES: usize = 64 * 1024;

/// A running `git http-backend`.
pub(super) struct Backend {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Dropping it stops git.
    client: oneshot::Sender<()>,
    /// Channel that stops git when the request's body is invalid.
    overrun: oneshot::Sender<()>,
    stopped: Arc<AtomicBool>,
}

/// The state of the supervising task until git has ended.
struct Supervised {
    child: Child,
    repository: Repository,
    client: oneshot::Receiver<()>,
    overrun: oneshot::Receiver<()>,
    stopped: Arc<AtomicBool>,
    /// Released only when no process is left.
    held: HeldResources,
}

/// A request with its service, the form of its body, and the quota of the repository.
pub(super) struct Call<'a> {
    pub request: &'a GitRequest,
    pub service: Service,
    pub form: BodyForm,
    pub repository_bytes_max: u64,
}

impl Call<'_> {
    /// The command that answers the request.
    ///
    /// git never learns of an encoding, since it receives the inflated body. It learns the length only of a body that is
    /// sent plain.
    pub(super) fn build_command(&self, commands: &GitCommands, repository: &Path) -> Command {
        let Self { request, service, form, .. } = self;
        let mut command = commands.build_command(repository, Priority::Normal);
        command.arg("http-backend").stdin(Stdio::piped());
        command.env("PATH_TRANSLATED", repository.join(service.path()));
        command.env("GIT_HTTP_EXPORT_ALL", "1").env("REMOTE_ADDR", "-");
        command.env("REMOTE_USER", &request.remote_user).env("REQUEST_METHOD", &request.method);
        command.env("QUERY_STRING", &request.query);
        command.env("CONTENT_TYPE", request.content_type.as_deref().unwrap_or_default());
        if let Some(bytes) = request.content_length.filter(|_| !form.is_gzip) {
            command.env("CONTENT_LENGTH", bytes.to_string());
        }
        if let Some(protocol) = request.protocol() {
            command.env("GIT_PROTOCOL", protocol);
        }
        // The hook reads these two.
        command.env(ORGANIZATION_VARIABLE, request.organization.as_str());
        command.env(REPOSITORY_BYTES_VARIABLE, self.repository_bytes_max.to_string());
        command
    }
}

impl Backend {
    /// Starts git and its supervising task.
    pub(super) fn start(mut command: Command, repository: Repository, held: HeldResources) -> Result<Self, Error> {
        let mut child = command.spawn().map_err(Error::io("start git"))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(Error::BackendReply { detail: "it has no pipes" });
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
            held,
        };
        tokio::spawn(supervised.run(errors));
        Ok(Self { input, output: BufReader::with_capacity(BUFFER_BYTES, output), client, overrun, stopped })
    }

    /// Feeds the body to git, and returns its answer as soon as git has sent a part of the answer's body. A git that ends
    /// without one is answered when the whole request has been read.
    ///
    /// git writes the headers before it has read the request, so that a refused body can still get an error response.
    /// Later the answer can only be cut off.
    pub(super) async fn answer(
        mut self,
        body: impl AsyncRead + Send + Unpin + 'static,
        form: BodyForm,
    ) -> Result<GitResponse, Error> {
        let (tell, mut fed) = oneshot::channel();
        let (input, overrun) = (self.input, self.overrun);
        tokio::spawn(async move {
            let result = feed(body, input, form).await;
            let is_refused = result.is_err();
            // Sent before git is stopped, so that the reason is known when git ends.
            tell.send(result).unwrap_or_default();
            if is_refused {
                overrun.send(()).unwrap_or_default();
            }
        });
        let head = read_head(&mut self.output).await;
        if head.is_err() && self.stopped.load(Ordering::SeqCst) {
            return Err(fed.try_recv().ok().and_then(Result::err).unwrap_or(Error::BodyCutOff));
        }
        let head = head?;
        let fed = tokio::select! {
            biased;
            fed = &mut fed => fed,
            filled = self.output.fill_buf() => match filled {
                Ok([]) => fed.await,
                // After an error, the reader of the body gets the same error.
                _ => Ok(Ok(())),
            },
        };
        fed.unwrap_or(Err(Error::BodyCutOff))?;
        let body = GitBody::new(self.output, self.client, self.stopped);
        Ok(GitResponse { status: head.status, headers: head.headers, body })
    }
}

impl Supervised {
    async fn run(mut self, errors: ChildStderr) {
        let errors = tokio::spawn(read_errors(errors));
        let status = self.wait().await;
        // A descendant that outlives the group could keep the pipe open.
        let errors = timeout(GRACE, errors).await.ok().and_then(Result::ok).unwrap_or_default();
        if let Some(push) = self.held.push.take() {
            push.end().await;
        }
        drop(self.held.permit);
        let organization = self.repository.organization();
        let stopped = self.stopped.load(Ordering::SeqCst);
        let is_complete = !stopped && status.is_some_and(|status| status.success());
        if let Some(ended) = self.held.ended.take() {
            // The caller may be gone.
            ended.send(is_complete).unwrap_or_default();
        }
        if is_complete {
            tracing::debug!(%organization, errors, "git ended");
        } else {
            tracing::warn!(%organization, ?status, stopped, errors, "git ended with an error or was stopped");
        }
    }

    async fn wait(&mut self) -> Option<ExitStatus> {
        let group = group_of(&self.child);
        let deadline = sleep(WALL_TIME_MAX);
        let overrun = async { (&mut self.overrun).await.is_ok() };
        let disconnected = async { (&mut self.client).await.is_err() };
        tokio::pin!(deadline, overrun, disconnected);
        let (mut watch_body, mut watch_client) = (true, true);
        loop {
            tokio::select! {
                status = self.child.wait() => {
                    // The kernel may have killed only git's first process; its children must end, too.
                    end_group(group?).await;
                    return status.ok();
                }
                overran = &mut overrun, if watch_body => if overran { break } else { watch_body = false },
                gone = &mut disconnected, if watch_client => if gone { break } else { watch_client = false },
                () = &mut deadline => break,
            }
        }
        self.stopped.store(true, Ordering::SeqCst);
        stop(&mut self.child).await
    }
}

/// Ends the whole process group: with SIGTERM, so that git removes its locks, then with SIGKILL.
async fn stop(child: &mut Child) -> Option<ExitStatus> {
    let group = group_of(child)?;
    // An error means that no process is left.
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

/// The process group of git, until its first process has been waited for.
fn group_of(child: &Child) -> Option<Pid> {
    child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw)
}

/// Ends the rest of a process group whose first process has ended.
async fn end_group(group: Pid) {
    let ending = async {
        while killpg(group, Signal::SIGKILL).is_ok() {
            sleep(GROUP_POLL).await;
        }
    };
    if timeout(GRACE, ending).await.is_err() {
        tracing::error!(%group, "processes of git do not end after SIGKILL");
    }
}

async fn read_errors(errors: ChildStderr) -> String {
    let mut kept = Vec::new();
    let mut limited = errors.take(ERROR_OUTPUT_BYTES_MAX);
    if limited.read_to_end(&mut kept).await.is_ok() {
        // The rest is read and discarded, so that git never blocks on a full pipe.
        tokio::io::copy(&mut limited.into_inner(), &mut tokio::io::sink()).await.unwrap_or_default();
    }
    String::from_utf8_lossy(&kept).trim_end().to_owned()
}
