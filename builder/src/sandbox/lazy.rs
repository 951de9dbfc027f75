//! The sandbox of this process, probed at first use.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::OnceCell;

use super::{Missing, Sandbox};

/// Probes for the sandbox until one is found, so that an operator who repairs the machine need not restart the server.
#[derive(Debug, Clone)]
pub struct LazySandbox {
    program: Option<PathBuf>,
    private: PathBuf,
    found: Arc<OnceCell<Sandbox>>,
}

impl LazySandbox {
    /// Creates a sandbox that was not probed yet. `program` is bubblewrap, if it is installed; `private` is a path that no job
    /// may see.
    #[must_use]
    pub fn new(program: Option<PathBuf>, private: PathBuf) -> Self {
        Self { program, private, found: Arc::default() }
    }

    /// The sandbox for builds in which an author's code runs natively.
    ///
    /// # Errors
    /// The missing part, and the command that adds it.
    pub async fn get(&self) -> Result<Sandbox, Missing> {
        let probe = || Sandbox::probe(self.program.as_deref(), &self.private);
        self.found.get_or_try_init(probe).await.cloned()
    }
}
