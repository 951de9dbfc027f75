//! Commits that were published already, or whose time is over.

use std::time::Duration;

use registry::{BranchName, Lease, Principal, Publication};

use super::{Builder, PublishRequest, blocking};
use crate::error::{Error, Place};
use crate::source::{CommitId, Repository};

/// Whoever asks for the very same version again within this lost the answer;
/// later it is more likely meant.
const REPETITION_TIME: Duration = Duration::from_mins(10);

impl Builder {
    pub(super) async fn refuse_older(
        &self,
        repository: &Repository,
        principal: &Principal,
        lease: &Lease,
        commit: CommitId,
    ) -> Result<(), Error> {
        let last = self.store.latest_commit(&principal.organization, &lease.tool).await?;
        let Some(last) = last.and_then(|text| CommitId::parse(&text).ok()) else { return Ok(()) };
        let of = repository.clone();
        if blocking(move || Ok(of.is_older(&commit, &last)?)).await? {
            let message = format!("commit {commit} is older than {last}, which the last version was built from");
            return Err(Error::failed("checkout", "older-commit", message, Place::default()));
        }
        Ok(())
    }

    /// A client whose answer was lost asks again, and must not get a second
    /// version.
    pub(super) async fn refuse_repetition(
        &self,
        lease: &Lease,
        request: &PublishRequest,
        branch: &BranchName,
        commit: CommitId,
    ) -> Result<(), Error> {
        if request.is_deliberate {
            return Ok(());
        }
        let publication = Publication {
            commit: commit.to_string(),
            commit_branch: branch.clone(),
            project_path: request.project_path.clone(),
            bump: request.bump,
        };
        Ok(self.store.refuse_repetition(lease, &publication, REPETITION_TIME).await?)
    }
}
