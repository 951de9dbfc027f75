//! The sandbox of this machine, and jobs in it.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use builder::Progress;
use builder::sandbox::{Failure, Finished, Job, Sandbox, Shown};

/// A variable that every job has here, so that its processes are found again.
const MARK: &str = "MARK";

/// As the command line finds it.
fn bubblewrap() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|directory| directory.join("bwrap")).find(|candidate| candidate.is_file())
}

/// A machine on which jobs can be confined.
pub struct Machine {
    pub sandbox: Sandbox,
}

impl Machine {
    /// Nothing where there is no sandbox, which is said; in CI there has to be one.
    pub async fn here() -> Option<Self> {
        let private = tempfile::NamedTempFile::new().expect("a file");
        match Sandbox::probe(bubblewrap().as_deref(), private.path()).await {
            Ok(sandbox) => Some(Self { sandbox }),
            Err(missing) => {
                assert!(env::var_os("CI").is_none(), "{missing}");
                println!("not tried: {missing}");
                None
            }
        }
    }

    /// What came of a job, and what it printed. Nothing of it may be left.
    pub async fn run(&self, job: Job) -> (Result<Finished, Failure>, String) {
        let (job, mark) = marked(job);
        let progress = Progress::none();
        let ended = self.sandbox.run(job, &progress).await;
        assert_none_left(&mark).await;
        (ended, progress.log())
    }
}

/// A job that is a script of the shell.
pub fn script(text: &str) -> Job {
    Job { arguments: vec!["-c".into(), text.into()], ..Job::new("/bin/sh") }
}

/// A job that is one of this program's own tests.
pub fn own(test: &str, environment: &[(&str, &str)]) -> Job {
    let program = env::current_exe().expect("a program");
    Job {
        arguments: ["--exact", test, "--nocapture", "--test-threads=1"].map(Into::into).to_vec(),
        environment: environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        read_only: vec![Shown::new(program, "/own")],
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

/// No process of the job is there, at the latest a second after its end.
pub async fn assert_none_left(mark: &str) {
    for _ in 0..20 {
        if processes(mark).is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("processes are left: {:?}", processes(mark));
}

/// Processes that have the mark in their environment, with their command lines.
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
