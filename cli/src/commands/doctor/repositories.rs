//! The check of all git repositories: in the data directory, or the packs in the bucket of servers that share a database.

use registry::{DataDir, DatabaseLocation, NamedPack, OrganizationId, SharedRepositories, StoredPack};
use repository::{GitProgram, RepositoryCopier};

use super::check::{Check, found, missing, optional};
use crate::server::{self, Location};

const NAME: &str = "git repositories";

/// Damaged parts that a line names.
const NAMED_MAX: usize = 10;

#[derive(Default)]
struct Findings {
    whole: usize,
    damaged: Vec<String>,
}

/// Reads all repositories. `None` while there is no installation.
pub async fn check(location: &Location) -> Option<Check> {
    let checked = match location.database {
        DatabaseLocation::DataDirectory if !DataDir::is_at(&location.directory) => return None,
        DatabaseLocation::DataDirectory => check_own(location).await,
        // Without the master key, this is not the directory of a server.
        DatabaseLocation::Url(_) if !location.directory.join("keys/master.key").is_file() => return None,
        DatabaseLocation::Url(_) => check_database(location).await,
    };
    match checked {
        Ok(Findings { whole, damaged }) if damaged.is_empty() => {
            Some(found(NAME, format!("{whole} repositories and packs are whole")))
        }
        Ok(Findings { damaged, .. }) => {
            let named = damaged.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join("; ");
            let detail = format!("{} are missing or damaged: {named}", damaged.len());
            let remedy = "start the servers: one that has a copy of a pack stores it again; or restore a backup";
            Some(missing(NAME, detail, Some(remedy.to_owned())))
        }
        Err(error) => Some(optional(NAME, format!("they cannot be checked: {error:#}"), None)),
    }
}

async fn check_own(location: &Location) -> anyhow::Result<Findings> {
    let repositories = RepositoryCopier::new(GitProgram::find()?, &DataDir::open(&location.directory)?.git());
    let mut findings = Findings::default();
    for name in repositories.names()? {
        match repositories.verify(&name).await {
            Ok(()) => findings.whole += 1,
            Err(repository::Error::Damaged { detail }) => findings.damaged.push(format!("git/{name}: {detail}")),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(findings)
}

async fn check_database(location: &Location) -> anyhow::Result<Findings> {
    let store = server::open_existing_store(location).await?;
    let artifacts = server::open_artifacts(&DataDir::open(&location.directory)?).await?;
    let shared = server::open_shared_repositories(&store, &artifacts).await?;
    let findings = match shared {
        Some(shared) => check_packs(&shared).await?,
        None => check_own(location).await?,
    };
    store.close().await;
    Ok(findings)
}

async fn check_packs(shared: &SharedRepositories) -> anyhow::Result<Findings> {
    let mut findings = Findings::default();
    for organization in shared.organizations().await? {
        let packs = shared.named_packs(&organization).await?.unwrap_or_default();
        for NamedPack { pack, .. } in packs.into_iter().filter(|named| named.is_current) {
            match check_pack(shared, &organization, &pack).await? {
                None => findings.whole += 1,
                Some(problem) => findings.damaged.push(problem),
            }
        }
    }
    Ok(findings)
}

/// Reads a pack, and asks the servers for one that is damaged.
async fn check_pack(
    shared: &SharedRepositories,
    organization: &OrganizationId,
    pack: &StoredPack,
) -> anyhow::Result<Option<String>> {
    let scratch = tempfile::tempdir()?;
    match shared.download(organization, pack, &scratch.path().join("pack")).await {
        Ok(()) => Ok(None),
        Err(registry::Error::PackDamaged { detail }) => {
            shared.note_damage(organization, pack).await?;
            Ok(Some(format!("{organization}: {detail}")))
        }
        Err(error) => Err(error.into()),
    }
}
