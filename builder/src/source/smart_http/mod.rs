//! Smart HTTP: one request of a git client becomes one run of `git http-backend`.
//!
//! Knows no web framework: a [`GitRequest`] and a reader come in, a [`GitResponse`] with a reader goes out, and bodies
//! stream both ways. Four shapes of request are served and everything else is [`SourceError::NotServed`], so that
//! neither the dumb protocol nor a path of the client's reaches the disk. Authentication and permission are the
//! caller's; this module is told the outcome.

mod process;
mod request;
mod response;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nix::unistd::{AccessFlags, access};
use registry::OrganizationId;
use tokio::io::AsyncRead;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::leftovers::{remove_locks, remove_quarantines};
use super::{GitProgram, Repositories, Repository, SourceError};
use process::Backend;
use request::Service;

pub use request::GitRequest;
pub use response::{GitBody, GitResponse};

/// git processes of one organisation at a time: each may use a core and some hundred MiB, and a team's continuous
/// integration fetches in bursts.
const PROCESSES_PER_ORGANIZATION_MAX: u8 = 4;
/// How long a request waits for its turn; git clients do not try again by themselves, and give up later than this.
const TURN_WAIT_MAX: Duration = Duration::from_secs(30);

/// Serves the repositories of all organisations. Cheap to clone.
#[derive(Debug, Clone)]
pub struct GitServer {
    repositories: Repositories,
    git: GitProgram,
    turns: Arc<Mutex<HashMap<OrganizationId, Arc<Semaphore>>>>,
}

impl GitServer {
    /// A server that runs `git` for these repositories; the only one, since it removes what an earlier one left behind.
    pub fn new(repositories: Repositories, git: GitProgram) -> Result<Self, SourceError> {
        for path in repositories.paths().map_err(SourceError::io("list the repositories"))? {
            remove_quarantines(&path);
            remove_locks(&path);
        }
        Ok(Self { repositories, git, turns: Arc::default() })
    }

    /// Answers one request; dropping the future, or the body it returns, stops git and all that git started.
    ///
    /// A refused push is a success here: its reason travels inside git's own protocol.
    pub async fn serve(
        &self,
        request: GitRequest,
        body: impl AsyncRead + Send + Unpin + 'static,
    ) -> Result<GitResponse, SourceError> {
        let service = Service::of(&request).ok_or(SourceError::NotServed)?;
        let repository = self.repositories.find(&request.organization).ok_or(SourceError::UnknownRepository)?;
        self.check(&request, service)?;
        let turn = self.turn(&repository).await?;
        let command = process::command(&self.git, &self.repositories, &repository, &request, service);
        let backend = Backend::start(command, repository, turn)?;
        backend.answer(body, service.body_bytes_max()).await
    }

    fn check(&self, request: &GitRequest, service: Service) -> Result<(), SourceError> {
        let bytes_max = service.body_bytes_max();
        if request.content_length.is_some_and(|bytes| bytes > bytes_max) {
            return Err(SourceError::BodyTooLarge { bytes_max });
        }
        if !service.is_push() {
            return Ok(());
        }
        if !request.may_push {
            return Err(SourceError::PushForbidden);
        }
        // git takes a hook that it may not execute for none at all, and would let the push through.
        let path = self.repositories.hook();
        access(&path, AccessFlags::X_OK).map_err(|_| SourceError::HookMissing { path })
    }

    async fn turn(&self, repository: &Repository) -> Result<OwnedSemaphorePermit, SourceError> {
        let busy = || SourceError::Busy { processes_max: PROCESSES_PER_ORGANIZATION_MAX };
        let semaphore = {
            // A panic while the lock was held cannot have left the map half written.
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(Semaphore::new(PROCESSES_PER_ORGANIZATION_MAX.into()));
            Arc::clone(turns.entry(repository.organization().clone()).or_insert_with(new))
        };
        let acquired = timeout(TURN_WAIT_MAX, semaphore.acquire_owned()).await;
        acquired.map_err(|_| busy())?.map_err(|_| busy())
    }
}
