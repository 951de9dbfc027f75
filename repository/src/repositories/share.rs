//! Sharing the repositories of a data directory, one by one.

use std::fs;

use registry::{OrganizationId, RepositoryGeneration};

use super::Repositories;
use crate::error::Error;

/// A repository that was shared and read back.
#[derive(Clone, Debug)]
pub struct VerifiedRepository {
    pub generation: RepositoryGeneration,
    /// Whether it was shared now.
    pub is_new: bool,
}

impl Repositories {
    /// Shares the repository of the data directory, unless the organisation has a shared one, and reads it back. Its copy is removed.
    /// `None` for an organisation without a repository.
    pub async fn share(&self, organization: &OrganizationId) -> Result<Option<VerifiedRepository>, Error> {
        let Some(sharing) = self.sharing() else { return Ok(None) };
        let repository = self.repository(organization);
        let is_new = sharing.adopt(&repository).await?;
        if sharing.records().generation(organization).await? == 0 {
            return Ok(None);
        }
        let generation = sharing.read_back(&repository).await?;
        fs::remove_dir_all(repository.path()).map_err(Error::io("remove the copy of a repository"))?;
        Ok(Some(VerifiedRepository { generation, is_new }))
    }
}
