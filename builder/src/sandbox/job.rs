//! What is run, what it sees, and what came of it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::Bounds;

/// The one directory in which a job can write, which begins empty. `tmp` and `home` in it are what their names say.
pub const BUILD_DIRECTORY: &str = "/build";

/// One program in the sandbox. All paths but those of [`Shown::here`] are as the job sees them.
#[derive(Debug, Clone)]
pub struct Job {
    /// Absolute.
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// Nothing else is in its environment but `HOME`, `TMPDIR`, `PATH` of the system's programs and `LANG`, each of which can be
    /// set here.
    pub environment: Vec<(String, String)>,
    /// What it sees beside the system's programs.
    pub read_only: Vec<Shown>,
    /// Where it starts.
    pub directory: PathBuf,
    /// The file that it has to leave behind, below [`BUILD_DIRECTORY`].
    pub output: Option<PathBuf>,
    pub bounds: Bounds,
}

/// A file or directory of this machine, and where a job sees it.
///
/// A server that runs as root gives jobs other user ids, so everybody must be able to read what is inside; who can reach
/// it on this machine does not matter.
#[derive(Debug, Clone)]
pub struct Shown {
    pub here: PathBuf,
    pub inside: PathBuf,
}

/// A job that went well.
#[derive(Debug)]
pub struct Finished {
    /// What [`Job::output`] asked for.
    pub output: Option<Vec<u8>>,
    pub used: Used,
}

/// What a job used, as far as it was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    pub wall: Duration,
    pub memory_bytes: u64,
    pub processes: u64,
    pub scratch_bytes: u64,
    pub scratch_files: u64,
}

impl Shown {
    pub fn new(here: impl Into<PathBuf>, inside: impl Into<PathBuf>) -> Self {
        Self { here: here.into(), inside: inside.into() }
    }

    /// At the same place.
    pub fn as_it_is(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { here: path.clone(), inside: path }
    }
}

impl Job {
    /// From the scratch directory, with the bounds of a build.
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
