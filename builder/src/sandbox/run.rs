//! Runs one job, until none of its processes is left.
//!
//! Each job has its own thread while it runs, since the kernel ends a job together with the thread that started it.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::libc;
use nix::sys::signal::{Signal, killpg};
use nix::sys::stat::{Mode, fstat, stat};
use nix::unistd::Pid;
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines as AsyncLines};
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::arguments::Arguments;
use super::child::{Preparation, list_limits};
use super::handles::{ProcessHandle, create_pipe, create_readable};
use super::job::{BUILD_DIRECTORY, Finished, Job, ReadOnlyMount, Used};
use super::log_writer::BatchedLogWriter;
use super::output;
use super::staging::Staging;
use super::system_calls;
use super::watch::Watched;
use super::{Failure, Sandbox};
use crate::progress::BuildProgress;

/// Time for namespaces and mounts. They take milliseconds, and more on a machine under load.
const START_MAX: Duration = Duration::from_secs(20);
/// Time for killed processes to end; the kernel first frees their memory.
const END_MAX: Duration = Duration::from_secs(10);
/// Bytes of one read of a job's output.
const OUTPUT_CHUNK_BYTES: usize = 64 << 10;
/// Time between two checks for a job's directory.
const DIRECTORY_POLL: Duration = Duration::from_millis(1);
/// Offset that bubblewrap adds to a signal number to form its exit code.
const SIGNAL_OFFSET: i32 = 128;

impl Sandbox {
    /// Runs a job to its end. Its output goes to `progress` line by line; the middle of long output is left out.
    ///
    /// Dropping the future ends the job.
    ///
    /// # Errors
    /// A status other than zero, a bound that was reached, or an output file that is missing or no regular file.
    pub async fn run(&self, job: Job, progress: &BuildProgress) -> Result<Finished, Failure> {
        let (answer, answered) = oneshot::channel();
        let (_wanted, cancelled) = oneshot::channel::<()>();
        let run = JobRun { sandbox: self.clone(), job, progress: progress.clone() };
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(run.run(cancelled))
        };
        thread::Builder::new().name("sandbox".into()).spawn(move || {
            // The receiver is gone when the caller has dropped its future.
            let _ = answer.send(work());
        })?;
        answered.await.map_err(|_| Failure::sandbox("the thread of a job ended before the job"))?
    }
}

/// A job with its sandbox and the progress that receives its output.
struct JobRun {
    sandbox: Sandbox,
    job: Job,
    progress: BuildProgress,
}

impl JobRun {
    async fn run(&self, cancelled: oneshot::Receiver<()>) -> Result<Finished, Failure> {
        let started = Instant::now();
        let mut running = self.start().await?;
        let ended = match running.release().await {
            Ok(job) => {
                let (scratch, bounds) = (&job.scratch, &self.job.bounds);
                let mut watched = Watched { first: job.first, scratch, bounds, used: Used::default() };
                let ended = running.follow(&job, &mut watched, cancelled).await;
                let used = watched.used;
                ended.map(|()| (job, used))
            }
            Err(failure) => Err(failure),
        };
        let last_line = running.finish().await;
        let (job, used) = ended.map_err(|failure| add_reason(failure, &last_line))?;
        let take = |path: &PathBuf| output::take(&job.scratch, path, self.job.bounds.output_bytes);
        let output = self.job.output.as_ref().map(take).transpose()?;
        Ok(Finished { output, used: Used { wall: started.elapsed(), ..used } })
    }

    async fn start(&self) -> Result<Running, Failure> {
        let Self { sandbox, job, progress } = self;
        let identity = sandbox.identities.next();
        let (staging, sources) = stage_sources(&job.read_only, identity.map(|_| &*sandbox.program))?;
        let mut arguments = Arguments::of(job, &sources);

        let (status, status_writer) = create_pipe()?;
        let (block_reader, block) = create_pipe()?;
        let filters = system_calls::build_filters().map_err(Failure::sandbox)?;
        let filters = filters.iter().map(|filter| create_readable(filter)).collect::<io::Result<Vec<_>>>()?;
        let number = |descriptor: &OwnedFd| descriptor.as_raw_fd().to_string();
        arguments.add(&["--json-status-fd", &number(&status_writer), "--block-fd", &number(&block_reader)]);
        for filter in &filters {
            arguments.add(&["--add-seccomp-fd", &number(filter)]);
        }
        let arguments = create_readable(&arguments.to_bytes())?;
        let kept = [&status_writer, &block_reader, &arguments].into_iter().chain(&filters);
        let preparation = Preparation {
            parent: Pid::this(),
            limits: list_limits(&job.bounds, identity.is_some()),
            staging,
            identity,
            kept: kept.map(AsRawFd::as_raw_fd).collect(),
        };

        let (printed, printer) = create_pipe()?;
        let printed =
            tokio::spawn(read_printed(Receiver::from_owned_fd(printed)?, BatchedLogWriter::new(progress.clone())));
        let mut command = Command::new(&*sandbox.program);
        command.arg("--args").arg(number(&arguments)).arg("--").arg(&job.program).args(&job.arguments);
        command.env_clear().current_dir("/").process_group(0).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(printer.try_clone()?).stderr(printer);
        // SAFETY: the callback allocates nothing, takes no lock, and uses no other thread.
        unsafe { command.pre_exec(move || preparation.apply()) };
        let spawned = command.spawn();
        drop(command); // closes its ends of the pipe; reading would not end otherwise
        let child = match spawned {
            Ok(child) => child,
            Err(error) => return Err(Failure::sandbox(format!("{} ({error})", printed.await.unwrap_or_default()))),
        };
        let processes_to_bound = identity.is_none().then_some(job.bounds.processes);
        let status = BufReader::new(Receiver::from_owned_fd(status)?).lines();
        Ok(Running { child, status, block: Some(block), printed, processes_to_bound })
    }
}

/// A failure of the sandbox without a reason of its own gets the last line that bubblewrap printed.
fn add_reason(failure: Failure, last_line: &str) -> Failure {
    match failure {
        Failure::Sandbox { problem } if problem.is_empty() => Failure::sandbox(last_line),
        other => other,
    }
}

/// A job's process and the pipes to it.
struct Running {
    child: Child,
    status: AsyncLines<BufReader<Receiver>>,
    /// Closing this descriptor lets the job's program start.
    block: Option<OwnedFd>,
    /// Resolves to the last line of output.
    printed: JoinHandle<String>,
    processes_to_bound: Option<u64>,
}

/// A job whose namespaces exist.
struct StartedJob {
    /// The id of the first process in the job's process namespace.
    first: i32,
    process: ProcessHandle,
    scratch: OwnedFd,
}

/// A message of bubblewrap on its status descriptor.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Status {
    child_pid: Option<i32>,
    exit_code: Option<i32>,
}

impl Running {
    /// Waits for the namespaces, opens the job's process and directory, and lets the program start.
    async fn release(&mut self) -> Result<StartedJob, Failure> {
        let line = tokio::time::timeout(START_MAX, self.status.next_line()).await;
        let line =
            line.map_err(|_| Failure::sandbox(explain_timeout("bubblewrap did not start the job", START_MAX)))??;
        let first = line.as_deref().and_then(parse_status).and_then(|status| status.child_pid);
        let first = first.ok_or_else(|| Failure::sandbox(""))?;
        let process = ProcessHandle::open(first)?;
        let scratch = self.open_scratch(first).await?;
        if let Some(processes) = self.processes_to_bound {
            bound_processes(first, processes)?;
        }
        self.block = None;
        Ok(StartedJob { first, process, scratch })
    }

    /// Opens the job's directory, which then outlives the job.
    async fn open_scratch(&mut self, first: i32) -> Result<OwnedFd, Failure> {
        let deadline = Instant::now() + START_MAX;
        while Instant::now() < deadline {
            if let Some(scratch) = open_process(first) {
                return Ok(scratch);
            }
            if tokio::time::timeout(DIRECTORY_POLL, self.child.wait()).await.is_ok() {
                return Err(Failure::sandbox(""));
            }
        }
        Err(Failure::sandbox(explain_timeout("the job's directory was not mounted", START_MAX)))
    }

    /// Waits for the job's end, or ends the job.
    async fn follow(
        &mut self,
        job: &StartedJob,
        watched: &mut Watched<'_>,
        cancelled: oneshot::Receiver<()>,
    ) -> Result<(), Failure> {
        let wall = watched.bounds.wall;
        let ended = tokio::select! {
            status = self.child.wait() => Ok(status?),
            failure = watched.wait_for_excess() => Err(failure),
            () = tokio::time::sleep(wall) => Err(Failure::Time { after: wall }),
            _ = cancelled => Err(Failure::sandbox("the caller has cancelled the job")),
        };
        job.process.kill();
        let ended = match ended {
            Ok(status) => self.read_result(status).await,
            Err(failure) => Err(failure),
        };
        let gone = tokio::time::timeout(END_MAX, job.process.wait()).await;
        gone.map_err(|_| Failure::sandbox(explain_timeout("the job's processes did not end", END_MAX)))??;
        ended?;
        // The job may have written files since the last tick.
        watched.measure_scratch()
    }

    /// The program's exit code as bubblewrap reports it. Bubblewrap reports none when the program did not start.
    async fn read_result(&mut self, of_bubblewrap: ExitStatus) -> Result<(), Failure> {
        let mut code = None;
        while let Ok(Ok(Some(line))) = tokio::time::timeout(END_MAX, self.status.next_line()).await {
            code = parse_status(&line).and_then(|status| status.exit_code).or(code);
        }
        match code {
            None if of_bubblewrap.signal().is_some() => Err(Failure::sandbox("bubblewrap was killed")),
            None => Err(Failure::sandbox("")),
            Some(0) => Ok(()),
            Some(code) if code > SIGNAL_OFFSET => Err(Failure::Signal { signal: code - SIGNAL_OFFSET }),
            Some(code) => Err(Failure::Status { code }),
        }
    }

    /// Ends all processes that are left, and returns the last line of output.
    async fn finish(mut self) -> String {
        // Until the namespaces exist, only the process group reaches all of them.
        if let Some(group) = self.child.id().and_then(|id| i32::try_from(id).ok()) {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        let _ = self.child.wait().await;
        let printed = tokio::time::timeout(END_MAX, &mut self.printed).await;
        printed.ok().and_then(Result::ok).unwrap_or_default()
    }
}

/// The directory as the process sees it, once the process has left the server's file system.
fn open_process(process: i32) -> Option<OwnedFd> {
    let path = format!("/proc/{process}/root{BUILD_DIRECTORY}");
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let scratch = open(path.as_str(), flags, Mode::empty()).ok()?;
    let theirs = fstat(&scratch).ok()?;
    let is_ours = stat(BUILD_DIRECTORY).is_ok_and(|ours| (ours.st_dev, ours.st_ino) == (theirs.st_dev, theirs.st_ino));
    (!is_ours).then_some(scratch)
}

/// Bounds the processes of the job's user namespace; other processes of the same user do not count there.
fn bound_processes(first: i32, processes: u64) -> io::Result<()> {
    let limit = libc::rlimit64 { rlim_cur: processes, rlim_max: processes };
    // SAFETY: the limit outlives the call, and the null pointer asks for no old limit.
    let set = unsafe { libc::prlimit64(first, libc::RLIMIT_NPROC, &raw const limit, std::ptr::null_mut()) };
    Errno::result(set).map(drop).map_err(io::Error::from)
}

/// The sources of the files that the job is shown. For a job with another user, [`Staging`] mounts them there first,
/// before the program `staged_for` runs.
fn stage_sources(shown: &[ReadOnlyMount], staged_for: Option<&Path>) -> io::Result<(Option<Staging>, Vec<PathBuf>)> {
    if let Some(program) = staged_for.filter(|_| !shown.is_empty()) {
        let (staging, sources) = Staging::plan(shown, program)?;
        return Ok((Some(staging), sources));
    }
    Ok((None, shown.iter().map(|one| one.source.canonicalize()).collect::<Result<_, _>>()?))
}

fn parse_status(line: &str) -> Option<Status> {
    serde_json::from_str(line).ok()
}

/// Passes all output to the writer, and returns the last line.
async fn read_printed(mut from: Receiver, mut writer: BatchedLogWriter) -> String {
    let mut buffer = vec![0; OUTPUT_CHUNK_BYTES];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        writer.take(&buffer[..read]);
    }
    writer.finish()
}

fn explain_timeout(problem: &str, after: Duration) -> String {
    format!("{problem} within {} s", after.as_secs())
}
