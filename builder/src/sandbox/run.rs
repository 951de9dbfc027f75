//! One job, from its start to the moment when nothing is left of it.
//!
//! Each has a thread of its own, for as long as it runs: the kernel ends a job with the thread that started it.

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
use super::child::{Preparation, limits};
use super::handles::{ProcessHandle, pipe, readable};
use super::job::{BUILD_DIRECTORY, Finished, Job, Shown, Used};
use super::lines::Lines;
use super::staging::Staging;
use super::watch::Watched;
use super::{Failure, Sandbox, output, system_calls};
use crate::progress::Progress;

/// Namespaces and mounts are made within milliseconds; a machine under load takes longer.
const START_MAX: Duration = Duration::from_secs(20);
/// How long the end of processes that were killed may take, which may have much memory to give back.
const END_MAX: Duration = Duration::from_secs(10);
const PRINTED_AT_ONCE: usize = 64 << 10;
/// How often it is looked whether a job's directory is there.
const GLANCE: Duration = Duration::from_millis(1);
/// What bubblewrap adds to the signal that ended a program.
const SIGNALLED: i32 = 128;

/// Runs a job on a thread of its own. Dropping the future ends it.
pub async fn run(sandbox: Sandbox, job: Job, progress: Progress) -> Result<Finished, Failure> {
    let (answer, answered) = oneshot::channel();
    let (_wanted, unwanted) = oneshot::channel::<()>();
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(run_here(&sandbox, &job, &progress, unwanted))
    };
    thread::Builder::new().name("sandbox".into()).spawn(move || {
        // Nobody waits for a job that is not wanted any more.
        let _ = answer.send(work());
    })?;
    answered.await.map_err(|_| Failure::sandbox("the thread of a job ended before it"))?
}

async fn run_here(
    sandbox: &Sandbox,
    job: &Job,
    progress: &Progress,
    unwanted: oneshot::Receiver<()>,
) -> Result<Finished, Failure> {
    let started = Instant::now();
    let mut running = Running::start(sandbox, job, progress).await?;
    let mut used = Used::default();
    let ended = match running.enter().await {
        Ok(inside) => {
            let ended = running.follow(job, &inside, unwanted, &mut used).await;
            Ok((inside, ended))
        }
        Err(failure) => Err(failure),
    };
    let said = running.finish().await;
    let (inside, ended) = ended.map_err(|failure| because(failure, &said))?;
    ended.map_err(|failure| because(failure, &said))?;
    used.wall = started.elapsed();
    let take = |path: &PathBuf| output::take(&inside.scratch, path, job.bounds.output_bytes);
    Ok(Finished { output: job.output.as_ref().map(take).transpose()?, used })
}

/// The sandbox's own failures are told by what bubblewrap said.
fn because(failure: Failure, said: &str) -> Failure {
    match failure {
        Failure::Sandbox { problem } if problem.is_empty() => Failure::sandbox(said),
        other => other,
    }
}

/// A job's process and what connects us with it.
struct Running {
    child: Child,
    status: AsyncLines<BufReader<Receiver>>,
    /// Closing it lets the job's program start.
    gate: Option<OwnedFd>,
    printed: JoinHandle<String>,
    processes_to_bound: Option<u64>,
}

/// The job from within, once its namespaces are there.
struct Inside {
    first: i32,
    process: ProcessHandle,
    scratch: OwnedFd,
}

/// What bubblewrap tells on its status descriptor.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Status {
    child_pid: Option<i32>,
    exit_code: Option<i32>,
}

impl Running {
    async fn start(sandbox: &Sandbox, job: &Job, progress: &Progress) -> Result<Self, Failure> {
        let identity = sandbox.identities.next();
        let (staging, places) = places(&job.read_only, identity.map(|_| &*sandbox.program))?;
        let mut arguments = Arguments::of(job, &places);

        let (status, status_writer) = pipe()?;
        let (gate_reader, gate) = pipe()?;
        let filters = system_calls::filters().map_err(Failure::sandbox)?;
        let filters = filters.iter().map(|filter| readable(filter)).collect::<io::Result<Vec<_>>>()?;
        let number = |descriptor: &OwnedFd| descriptor.as_raw_fd().to_string();
        arguments.add(&["--json-status-fd", &number(&status_writer), "--block-fd", &number(&gate_reader)]);
        for filter in &filters {
            arguments.add(&["--add-seccomp-fd", &number(filter)]);
        }
        let arguments = readable(&arguments.bytes())?;
        let kept = [&status_writer, &gate_reader, &arguments].into_iter().chain(&filters);
        let preparation = Preparation {
            parent: Pid::this(),
            limits: limits(&job.bounds, identity.is_some()),
            staging,
            identity,
            kept: kept.map(AsRawFd::as_raw_fd).collect(),
        };

        let (printed, printer) = pipe()?;
        let printed = tokio::spawn(read_printed(Receiver::from_owned_fd(printed)?, Lines::into(progress.clone())));
        let mut command = Command::new(&*sandbox.program);
        command.arg("--args").arg(number(&arguments)).arg("--").arg(&job.program).args(&job.arguments);
        command.env_clear().current_dir("/").process_group(0).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(printer.try_clone()?).stderr(printer);
        // SAFETY: what is called there allocates nothing, takes no lock, and knows of no other thread.
        unsafe { command.pre_exec(move || preparation.apply()) };
        let spawned = command.spawn();
        drop(command); // its ends of the pipe, without which reading does not end
        let child = match spawned {
            Ok(child) => child,
            Err(error) => return Err(Failure::sandbox(format!("{} ({error})", printed.await.unwrap_or_default()))),
        };
        let processes_to_bound = identity.is_none().then_some(job.bounds.processes);
        let status = BufReader::new(Receiver::from_owned_fd(status)?).lines();
        Ok(Self { child, status, gate: Some(gate), printed, processes_to_bound })
    }

    /// Waits until the namespaces are there, takes hold of what is in them, and lets the program start.
    async fn enter(&mut self) -> Result<Inside, Failure> {
        let told = tokio::time::timeout(START_MAX, self.status.next_line()).await;
        let told = told.map_err(|_| Failure::sandbox("bubblewrap does not come to its start"))??;
        let first = told.as_deref().and_then(status).and_then(|status| status.child_pid);
        let first = first.ok_or_else(|| Failure::sandbox(""))?;
        let process = ProcessHandle::open(first)?;
        let scratch = self.scratch(first).await?;
        if let Some(processes) = self.processes_to_bound {
            bound_processes(first, processes)?;
        }
        self.gate = None;
        Ok(Inside { first, process, scratch })
    }

    /// The job's own directory, which stays as long as it is open, whatever becomes of the job.
    async fn scratch(&mut self, first: i32) -> Result<OwnedFd, Failure> {
        let deadline = Instant::now() + START_MAX;
        while Instant::now() < deadline {
            if let Some(scratch) = opened(first) {
                return Ok(scratch);
            }
            if tokio::time::timeout(GLANCE, self.child.wait()).await.is_ok() {
                return Err(Failure::sandbox(""));
            }
        }
        Err(Failure::sandbox("the job's directory is not there"))
    }

    /// Waits for the job's end, or brings it about.
    async fn follow(
        &mut self,
        job: &Job,
        inside: &Inside,
        unwanted: oneshot::Receiver<()>,
        used: &mut Used,
    ) -> Result<(), Failure> {
        let watched = Watched { first: inside.first, scratch: &inside.scratch, bounds: &job.bounds };
        let ended = tokio::select! {
            status = self.child.wait() => Ok(status?),
            failure = watched.beyond(used) => Err(failure),
            () = tokio::time::sleep(job.bounds.wall) => Err(Failure::Time { after: job.bounds.wall }),
            _ = unwanted => Err(Failure::sandbox("nobody waits for this job any more")),
        };
        inside.process.kill();
        let ended = match ended {
            Ok(status) => self.judge(status).await,
            Err(failure) => Err(failure),
        };
        tokio::time::timeout(END_MAX, inside.process.gone())
            .await
            .map_err(|_| Failure::sandbox("it does not end"))??;
        ended?;
        // Between two looks.
        watched.measure_scratch(used)
    }

    /// What bubblewrap tells of the program's end. It tells nothing when there was no program.
    async fn judge(&mut self, of_bubblewrap: ExitStatus) -> Result<(), Failure> {
        let mut code = None;
        while let Ok(Ok(Some(line))) = tokio::time::timeout(END_MAX, self.status.next_line()).await {
            code = status(&line).and_then(|status| status.exit_code).or(code);
        }
        match code {
            None if of_bubblewrap.signal().is_some() => Err(Failure::sandbox("bubblewrap was killed")),
            None => Err(Failure::sandbox("")),
            Some(0) => Ok(()),
            Some(code) if code > SIGNALLED => Err(Failure::Signal { signal: code - SIGNALLED }),
            Some(code) => Err(Failure::Status { code }),
        }
    }

    /// Ends what is left, and gives the last thing that was said.
    async fn finish(mut self) -> String {
        // Before its namespaces are there, a process group holds it together.
        if let Some(group) = self.child.id().and_then(|id| i32::try_from(id).ok()) {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        let _ = self.child.wait().await;
        let printed = tokio::time::timeout(END_MAX, &mut self.printed).await;
        printed.ok().and_then(Result::ok).unwrap_or_default()
    }
}

/// The directory as the process sees it, once it has left the file system that we see.
fn opened(process: i32) -> Option<OwnedFd> {
    let path = format!("/proc/{process}/root{BUILD_DIRECTORY}");
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let scratch = open(path.as_str(), flags, Mode::empty()).ok()?;
    let theirs = fstat(&scratch).ok()?;
    let is_ours = stat(BUILD_DIRECTORY).is_ok_and(|ours| (ours.st_dev, ours.st_ino) == (theirs.st_dev, theirs.st_ino));
    (!is_ours).then_some(scratch)
}

/// The processes of this user that are elsewhere do not count in the job's namespace.
fn bound_processes(first: i32, processes: u64) -> io::Result<()> {
    let limit = libc::rlimit64 { rlim_cur: processes, rlim_max: processes };
    // SAFETY: the limit outlives the call, and the old one is not asked for.
    let set = unsafe { libc::prlimit64(first, libc::RLIMIT_NPROC, &raw const limit, std::ptr::null_mut()) };
    Errno::result(set).map(drop).map_err(io::Error::from)
}

/// Where what is shown is taken from. For a job with another user it is mounted there first, before `staged_for` runs.
fn places(shown: &[Shown], staged_for: Option<&Path>) -> io::Result<(Option<Staging>, Vec<PathBuf>)> {
    if let Some(program) = staged_for.filter(|_| !shown.is_empty()) {
        let (staging, places) = Staging::plan(shown, program)?;
        return Ok((Some(staging), places));
    }
    Ok((None, shown.iter().map(|one| one.here.canonicalize()).collect::<Result<_, _>>()?))
}

fn status(line: &str) -> Option<Status> {
    serde_json::from_str(line).ok()
}

/// Reads to the end, however much it is.
async fn read_printed(mut from: Receiver, mut lines: Lines) -> String {
    let mut buffer = vec![0; PRINTED_AT_ONCE];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        lines.take(&buffer[..read]);
    }
    lines.finish()
}
