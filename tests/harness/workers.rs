//! Build workers: `lathe worker` beside a server.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nix::sys::signal::Signal;

use super::process::Process;
use super::{Options, PATIENCE, Server, eventually, seed};

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A worker process. Dropping it kills the process.
pub struct Worker {
    process: Process,
    log: PathBuf,
    /// Kept open, since the worker may write to it.
    stdout: BufReader<ChildStdout>,
}

/// Starts a server that leaves builds to separately started workers.
pub fn server_with_workers(options: Options) -> Arc<Server> {
    let mut options = options;
    options.arguments.extend(["--build-workers", "external"].map(str::to_owned));
    Server::private(&options)
}

/// The socket on which a server accepts workers.
pub fn socket_of_workers(server: &Server) -> PathBuf {
    server.data().join("workers/socket")
}

impl Worker {
    /// Starts a worker and waits until the server has accepted it.
    pub fn beside(server: &Server) -> Self {
        Self::with(server, &[])
    }

    pub fn with(server: &Server, arguments: &[&str]) -> Self {
        let mut worker = Self::start(server.data(), arguments, Path::new(env!("CARGO_BIN_EXE_lathe")));
        let mut line = String::new();
        worker.stdout.read_line(&mut line).expect("the worker's first line");
        assert!(line.starts_with("building for "), "{line:?}\n{}", worker.said());
        worker
    }

    /// Starts a worker, possibly without a server.
    pub fn start(data: &Path, arguments: &[&str], program: &Path) -> Self {
        Self::start_with_cache(data, &seed::cache(), arguments, program)
    }

    /// Starts a worker with a cache, of which an empty one has no compiled code.
    pub fn start_with_cache(data: &Path, cache: &Path, arguments: &[&str], program: &Path) -> Self {
        seed::plant_keys(&data.join("workers"));
        let log = data.with_file_name(format!("worker{}.log", COUNT.fetch_add(1, Ordering::Relaxed)));
        let mut command = Command::new(program);
        command.args(["worker", "--data"]).arg(data).arg("--cache").arg(cache).args(arguments);
        super::lathe::clean_environment(&mut command);
        command.current_dir(data.parent().expect("a parent"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(File::create(&log).expect("a log"));
        let mut process = Process::start(command);
        let stdout = BufReader::new(process.child().stdout.take().expect("a pipe"));
        Self { process, log, stdout }
    }

    /// Returns the worker's log.
    pub fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Sends a signal to the worker, and not to its children.
    pub fn signal(&self, signal: Signal) {
        self.process.signal(signal);
    }

    /// Waits until the worker has ended by itself or by a signal.
    #[track_caller]
    pub fn ended(&mut self) -> ExitStatus {
        self.process.ended_within(PATIENCE).unwrap_or_else(|| panic!("the worker goes on: {}", self.said()))
    }

    /// Whether the worker has a child process.
    pub fn has_child(&mut self) -> bool {
        let parent = format!("PPid:\t{}\n", self.process.child().id());
        let processes = fs::read_dir("/proc").expect("processes").flatten();
        processes
            .map(|entry| entry.path().join("status"))
            .any(|status| fs::read_to_string(status).unwrap_or_default().contains(&parent))
    }

    /// Whether the worker has a child process that compiles.
    pub fn is_compiling(&mut self) -> bool {
        let parent = format!("PPid:\t{}\n", self.process.child().id());
        let processes = fs::read_dir("/proc").expect("processes").flatten();
        processes.map(|entry| entry.path()).any(|process| {
            let read = |name: &str| fs::read_to_string(process.join(name)).unwrap_or_default();
            read("status").contains(&parent) && read("cmdline").contains("\0bundle\0")
        })
    }

    /// Waits until one of the workers has a child that compiles, and removes that worker from the list.
    pub fn compiling(workers: &mut Vec<Self>) -> Self {
        let busy = eventually("a build's child", || workers.iter_mut().position(Self::is_compiling));
        workers.remove(busy)
    }
}

/// Returns the files below a directory, without lock files.
pub fn scratch_of_workers(server: &Server) -> Vec<PathBuf> {
    let entries = fs::read_dir(server.data().join("workers/scratch")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}
