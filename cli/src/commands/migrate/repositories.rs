//! Storing the repositories of a data directory, for servers that share a database.

use std::path::PathBuf;

use registry::{Artifacts, Clock, DataDir, Digest, SharedRepositories, Store};
use repository::{GitProgram, Repositories, RepositoryCopier, RepositorySharing, VerifiedRepository};
use serde_json::json;

use super::part::Part;
use super::scratch::create_scratch;
use crate::failure::Failure;
use crate::output::{Spinner, render_table};
use crate::server;

/// The repositories of a data directory, and the bucket that receives their packs.
pub struct RepositoryMove<'a> {
    pub data: &'a DataDir,
    pub artifacts: &'a Artifacts,
}

#[derive(Default)]
struct CopiedPacks {
    count: u64,
    copied: u64,
    refs: usize,
    bytes: u64,
    packs: Vec<Digest>,
}

impl RepositoryMove<'_> {
    /// Counts the repositories.
    pub fn plan(&self) -> anyhow::Result<Part> {
        let count = RepositoryCopier::new(find_git()?, &self.data.git()).names()?.len();
        let text = format!("repositories in the data directory: {count}");
        Ok(Part { key: "repositories", document: json!({"count": count}), text })
    }

    /// Stores the packs of the repositories that are not shared, records their refs, and reads all repositories back.
    pub async fn run(&self, store: &Store) -> anyhow::Result<Part> {
        let progress = Spinner::start("migrating");
        let Some(records) = SharedRepositories::of(store, self.artifacts) else {
            anyhow::bail!("repositories are shared with a database server and a bucket");
        };
        let scratch = create_scratch()?;
        let config = repository::Config { root: self.data.git(), hook_program: PathBuf::from(server::find_program()?) };
        let sharing = RepositorySharing { records, git: find_git()?, copies: scratch.path().join("git-copies") };
        let repositories = Repositories::shared(config, Clock::system(), sharing)?;
        let mut shared = CopiedPacks::default();
        for organization in store.access().list_organizations().await? {
            progress.show(format!("repository of {}", organization.id));
            let Some(VerifiedRepository { generation, is_new }) = repositories.share(&organization.id).await? else {
                continue;
            };
            shared.count += 1;
            shared.copied += u64::from(is_new);
            shared.refs += generation.contents.refs.len();
            shared.bytes += generation.contents.packs.iter().map(|pack| pack.bytes).sum::<u64>();
            shared.packs.extend(generation.contents.packs.iter().map(|pack| pack.digest));
        }
        progress.finish_step(format!("repositories: {} copied", shared.copied));
        Ok(shared.build_part())
    }
}

impl CopiedPacks {
    fn build_part(mut self) -> Part {
        self.packs.sort_unstable();
        let joined: Vec<u8> = self.packs.iter().flat_map(|digest| *digest.as_bytes()).collect();
        let digest = Digest::of(&joined);
        let Self { count, copied, refs, bytes, .. } = self;
        let row = [count, copied, refs as u64, bytes].map(|number| number.to_string());
        let [count_text, copied_text, refs_text, bytes_text] = row;
        let row = ["repositories".to_owned(), count_text, copied_text, refs_text, bytes_text, digest.to_string()];
        Part {
            key: "repositories",
            document: json!({"count": count, "copied": copied, "refs": refs, "bytes": bytes, "digest": digest}),
            text: render_table(["contents", "count", "copied", "refs", "bytes", "digest"], [row]),
        }
    }
}

fn find_git() -> anyhow::Result<GitProgram> {
    let hint = "`lathe doctor` shows the command that installs git";
    GitProgram::find().map_err(|error| Failure::refused(error.to_string(), hint))
}
