//! Reading a shared repository back after it was stored.

use registry::RepositoryGeneration;

use super::command::run;
use super::{Sharing, refs};
use crate::bare::Repository;
use crate::blocking::blocking;
use crate::error::Error;
use crate::git::Priority;

/// Checks that a repository has every object that a ref reaches.
const REACH: [&str; 4] = ["rev-list", "--objects", "--all", "--quiet"];

/// The first generation of a shared repository.
const FIRST: i64 = 1;

impl Sharing {
    /// Fetches all packs, compares them with their digests, and checks that they have every object that a ref reaches.
    pub(crate) async fn read_back(&self, repository: &Repository) -> Result<RepositoryGeneration, Error> {
        let found = self.update(repository).await?;
        let mut command = self.commands.build_command(repository.path(), Priority::Normal);
        command.arg("--git-dir").arg(repository.path()).args(REACH);
        run(command, String::new()).await?;
        // Later generations have changes of servers.
        if let Some(own) = self.own_of(repository).filter(|_| found.number == FIRST) {
            let refs = blocking(move || refs::read(&own).map_err(Error::git("read the refs of a repository"))).await?;
            if refs != found.contents.refs {
                let detail = format!("the refs of {} differ from those that were stored", repository.organization());
                return Err(Error::Copy { detail });
            }
        }
        Ok(found)
    }
}
