//! Refuses publications of older commits, and repeated publications.

use std::time::Duration;

use registry::BranchName;
use repository::{CommitId, Repository};

use super::publish_context::PublishContext;
use super::request::PublishRequest;
use crate::blocking::blocking;
use crate::error::Error;

/// Time within which an identical request counts as a retry by a client that lost the response. Later, it is more
/// likely intended.
const REPETITION_TIME: Duration = Duration::from_mins(10);

impl PublishContext<'_> {
    pub(super) async fn refuse_older(&self, repository: &Repository, commit: CommitId) -> Result<(), Error> {
        let last = self.builder.store.versions().latest_commit(&self.principal.organization, &self.lease.tool).await?;
        let Some(last) = last.and_then(|text| CommitId::parse(&text).ok()) else { return Ok(()) };
        let of = repository.clone();
        if blocking(move || of.is_older(&commit, &last)).await?? {
            let message = format!("commit {commit} is older than {last}, which the last version was built from");
            return Err(Error::failed("checkout", "older-commit", message));
        }
        Ok(())
    }

    /// Refuses the retry of a client that lost the response, so that no second version is published.
    pub(super) async fn refuse_repetition(
        &self,
        request: &PublishRequest,
        branch: &BranchName,
        commit: CommitId,
    ) -> Result<(), Error> {
        if request.is_deliberate {
            return Ok(());
        }
        let publication = registry::Publication {
            commit: commit.to_string(),
            commit_branch: branch.clone(),
            project_path: request.project_path.clone(),
            bump: request.bump,
        };
        Ok(self.builder.store.versions().refuse_repetition(self.lease, &publication, REPETITION_TIME).await?)
    }
}
