//! Where programs run that an author's code takes part in: build scripts and compiler plug-ins are native code.
//!
//! A job is one program in namespaces of its own, made by bubblewrap. It sees the system's programs and what it is shown,
//! none of which it can write to, and one directory in memory that is gone with it. It has no network, no environment, a
//! user id of its own, a bound for everything that it could use up, and a seccomp filter. When it ends, however it ends,
//! no process of it is left.
//!
//! Fetching needs no job: what a lock file pins, the server downloads itself and compares with its hash, and no program
//! that an author could talk to takes part. So whatever runs here runs without a network.

mod arguments;
mod bounds;
mod child;
mod failure;
mod handles;
mod identity;
mod job;
mod lines;
mod missing;
mod output;
mod probe;
mod run;
mod scratch;
mod staging;
mod system_calls;
mod tree;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use bounds::Bounds;
pub use failure::Failure;
pub use job::{BUILD_DIRECTORY, Finished, Job, Shown, Used};
pub use missing::Missing;
pub use scratch::{ScratchDirectory, Scratches};

use crate::progress::Progress;
use identity::Identities;

/// Bubblewrap on a kernel on which it has shown that it holds.
#[derive(Debug, Clone)]
pub struct Sandbox {
    program: Arc<Path>,
    identities: Identities,
}

impl Sandbox {
    /// Finds out whether jobs can be confined here, by running one that tries to get at things.
    ///
    /// `program` is bubblewrap, if there is one; `private` is a file that no job may see.
    ///
    /// # Errors
    /// What is missing, and the command that mends it.
    pub async fn probe(program: Option<&Path>, private: &Path) -> Result<Self, Missing> {
        let program = program.ok_or_else(Missing::bubblewrap)?;
        let identities = Identities::of_this_process().map_err(Missing::identity)?;
        let sandbox = Self { program: program.into(), identities };
        probe::probe(&sandbox, private).await?;
        Ok(sandbox)
    }

    /// Runs a job to its end. What it prints goes line by line into `progress`; what is too much of it is left out.
    ///
    /// Whoever drops the future ends the job.
    ///
    /// # Errors
    /// A status other than zero, a bound that was reached, an output that is not what was asked for.
    pub async fn run(&self, job: Job, progress: &Progress) -> Result<Finished, Failure> {
        run::run(self.clone(), job, progress.clone()).await
    }

    /// Where bubblewrap is.
    #[must_use]
    pub fn program(&self) -> PathBuf {
        self.program.to_path_buf()
    }
}
