//! A job and its result.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::Bounds;

/// The only directory that a job can write to. It starts with an empty `tmp` and an empty `home`.
pub const BUILD_DIRECTORY: &str = "/build";

/// A program to run in the sandbox. All paths but [`ReadOnlyMount::source`] are paths inside the job.
#[derive(Debug, Clone)]
pub struct Job {
    /// An absolute path.
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// Variables beside `HOME`, `TMPDIR`, `PATH` and `LANG`, which these can override. Nothing else is set.
    pub environment: Vec<(String, String)>,
    /// Files and directories beside the system's programs.
    pub read_only: Vec<ReadOnlyMount>,
    /// The working directory.
    pub directory: PathBuf,
    /// The file that the job must create, below [`BUILD_DIRECTORY`].
    pub output: Option<PathBuf>,
    pub bounds: Bounds,
}

/// A file or directory of this machine, and its path inside the job.
///
/// A server that runs as root gives jobs other user ids, so that the contents must be readable by everybody. The
/// directories above may be closed.
#[derive(Debug, Clone)]
pub struct ReadOnlyMount {
    pub source: PathBuf,
    pub target: PathBuf,
}

/// The result of a successful job.
#[derive(Debug)]
pub struct Finished {
    /// The contents of [`Job::output`].
    pub output: Option<Vec<u8>>,
    pub used: Used,
}

/// The measured resource use of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    pub wall: Duration,
    pub memory_bytes: u64,
    pub processes: u64,
    pub scratch_bytes: u64,
    pub scratch_files: u64,
}

impl ReadOnlyMount {
    pub fn new(source: impl Into<PathBuf>, target: impl Into<PathBuf>) -> Self {
        Self { source: source.into(), target: target.into() }
    }
}

impl Job {
    /// A job in the scratch directory, with the bounds of a build.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            read_only: Vec::new(),
            directory: BUILD_DIRECTORY.into(),
            output: None,
            bounds: Bounds::BUILD,
        }
    }
}
