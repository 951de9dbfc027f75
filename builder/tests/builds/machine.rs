//! The sandbox of this machine, and helpers for jobs.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use builder::BuildProgress;
use builder::sandbox::{Failure, Finished, Job, ReadOnlyMount, Sandbox};

use crate::need::Need;

/// The variable that identifies the processes of a job.
const MARK: &str = "MARK";

/// Bubblewrap in PATH.
fn bubblewrap() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|directory| directory.join("bwrap")).find(|candidate| candidate.is_file())
}

const BUILD_SANDBOX: Need = Need {
    what: "bubblewrap, and the right to make user namespaces",
    command: "apt-get install bubblewrap; `lathe doctor` names the setting of the kernel that forbids namespaces",
};

/// A machine with a sandbox.
pub struct Machine {
    pub sandbox: Sandbox,
}

impl Machine {
    /// This machine, or `None` if it has no sandbox.
    pub async fn here() -> Option<Self> {
        let private = tempfile::NamedTempFile::new().expect("a file");
        let sandbox = Sandbox::probe(bubblewrap().as_deref(), private.path()).await;
        BUILD_SANDBOX.require(sandbox.ok()).map(|sandbox| Self { sandbox })
    }

    /// Runs a job, and returns its result and its output. None of its processes may be left.
    pub async fn run(&self, job: Job) -> (Result<Finished, Failure>, String) {
        let (job, mark) = marked(job);
        let progress = BuildProgress::none();
        let ended = self.sandbox.run(job, &progress).await;
        assert_none_left(&mark).await;
        (ended, progress.log())
    }
}

/// A job that runs a shell script.
pub fn script(text: &str) -> Job {
    Job { arguments: vec!["-c".into(), text.into()], ..Job::new("/bin/sh") }
}

/// A job that runs one of this program's tests.
pub fn own(test: &str, environment: &[(&str, &str)]) -> Job {
    let program = env::current_exe().expect("a program");
    Job {
        arguments: ["--exact", test, "--nocapture", "--test-threads=1"].map(Into::into).to_vec(),
        environment: environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        read_only: vec![ReadOnlyMount::new(program, "/own")],
        ..Job::new("/own")
    }
}

/// A job whose processes can be found.
pub fn marked(mut job: Job) -> (Job, String) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mark = format!("job-{}-{}-", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    job.environment.push((MARK.to_owned(), mark.clone()));
    (job, mark)
}

/// The time limit of a test that would not end. It is no measure of how long anything takes.
const PATIENCE: Duration = Duration::from_secs(300);

/// Waits until the job has started a program.
pub async fn until_there(mark: &str, program: &str) {
    let is_there = async {
        while !processes(mark).iter().any(|line| line.starts_with(program)) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, is_there).await.expect("the job starts");
}

/// Asserts that no process of the job is left, once the kernel has ended the killed ones.
pub async fn assert_none_left(mark: &str) {
    let ended = async {
        while !processes(mark).is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let ended = tokio::time::timeout(PATIENCE, ended).await;
    assert!(ended.is_ok(), "processes are left: {:?}", processes(mark));
}

/// The command lines of processes with the mark in their environment.
pub fn processes(mark: &str) -> Vec<String> {
    let mark = format!("{MARK}={mark}");
    let entries = fs::read_dir("/proc").expect("processes").filter_map(Result::ok);
    let has_mark = |path: &PathBuf| {
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(&mark)
    };
    let marked = entries.map(|entry| entry.path()).filter(has_mark);
    marked
        .map(|path| String::from_utf8_lossy(&fs::read(path.join("cmdline")).unwrap_or_default()).into_owned())
        .collect()
}
