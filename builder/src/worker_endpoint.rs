//! The endpoint at which build workers connect to a server.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use registry::Digest;
use sha2::{Digest as _, Sha256};
use tokio::sync::OnceCell;

use crate::blocking::blocking;
use crate::error::Error;

/// The socket's file name. Its directory is the only part of the server's data that a worker needs.
const SOCKET: &str = "socket";
/// The directory of workers' temporary files.
const SCRATCH: &str = "scratch";

/// The directory of the socket, and the program that server and workers both run.
#[derive(Debug, Clone)]
pub struct WorkerEndpoint {
    directory: PathBuf,
    program: PathBuf,
    digest: Arc<OnceCell<Digest>>,
}

impl WorkerEndpoint {
    /// `program` is the file of this process's program. A worker must run the same one.
    #[must_use]
    pub fn new(directory: PathBuf, program: &str) -> Self {
        Self { directory, program: program.into(), digest: Arc::default() }
    }

    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.directory.join(SOCKET)
    }

    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        self.directory.join(SCRATCH)
    }

    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The digest of this program, computed once.
    ///
    /// # Errors
    /// When the program's file cannot be read.
    pub async fn digest(&self) -> Result<Digest, Error> {
        let program = self.program.clone();
        let compute = || async { blocking(move || compute_digest(&program)).await?.map_err(Error::internal) };
        self.digest.get_or_try_init(compute).await.copied()
    }
}

fn compute_digest(path: &Path) -> io::Result<Digest> {
    let mut hasher = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(Digest::from_bytes(hasher.finalize().into()))
}
