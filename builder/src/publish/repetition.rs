//! Refuses publications of older commits, and repeated publications.

use std::time::Duration;

use registry::{BranchName, ToolVersion};
use repository::{CommitId, Repository};

use super::publish_context::PublishContext;
use super::request::PublishRequest;
use crate::blocking::blocking;
use crate::error::Error;

/// Time within which an identical request counts as a retry by a client that lost the response. Later, it is more
/// likely intended.
const REPETITION_TIME: Duration = Duration::from_mins(10);

/// Refuses a commit that the one of the highest version contains. Each version is higher than those before, so that is the last.
pub(super) async fn refuse_older(
    repository: &Repository,
    commit: CommitId,
    highest: Option<&ToolVersion>,
) -> Result<(), Error> {
    let Some(last) = highest.and_then(|highest| CommitId::parse(&highest.commit).ok()) else { return Ok(()) };
    let of = repository.clone();
    if blocking(move || of.is_older(&commit, &last)).await?? {
        let message = format!("commit {commit} is older than {last}, which the last version was built from");
        return Err(Error::failed("checkout", "older-commit", message));
    }
    Ok(())
}

impl PublishContext<'_> {
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
