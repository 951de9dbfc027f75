//! The sandbox of a machine, once a probe has shown that it holds.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::identity::Identities;

/// Bubblewrap on a kernel that confines its jobs.
#[derive(Debug, Clone)]
pub struct Sandbox {
    pub(super) program: Arc<Path>,
    pub(super) identities: Identities,
}

impl Sandbox {
    /// The path of bubblewrap.
    #[must_use]
    pub fn program(&self) -> PathBuf {
        self.program.to_path_buf()
    }
}
