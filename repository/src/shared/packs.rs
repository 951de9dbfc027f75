//! Packs of a copy: writing, adding and removing them.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use registry::{RepositoryContents, StoredPack};

use super::command::run;
use crate::error::Error;
use crate::git::{GitCommands, Priority};

/// The directory of the packs in a repository.
const PACKS: &str = "objects/pack";

/// Writes a pack with no new deltas, and its index, unless there is no object, and prints git's name of the pack.
const PACK: [&str; 6] = ["pack-objects", "--revs", "--non-empty", "--delta-base-offset", "--window=0", "-q"];
/// Writes the index of a pack, checks its objects, and prints git's name of the pack.
const INDEX: [&str; 3] = ["index-pack", "--object-format=sha1", "--no-rev-index"];

/// Commits whose objects a pack shall have, and commits whose objects other packs have.
#[derive(Debug, Default)]
pub(super) struct Reach<'a> {
    pub commits: Vec<&'a str>,
    pub without: Vec<&'a str>,
}

/// A repository, and the directory for its new packs.
pub(super) struct Packer<'a> {
    pub commands: &'a GitCommands,
    pub repository: &'a Path,
    pub directory: PathBuf,
}

/// A new pack.
pub(super) struct NewPack {
    pub name: String,
    pub path: PathBuf,
}

impl<'a> Packer<'a> {
    /// Writes packs of a repository to the repository itself.
    pub(super) fn of(commands: &'a GitCommands, repository: &'a Path) -> Self {
        Self { commands, repository, directory: repository.join(PACKS) }
    }

    /// Packs the objects that some commits reach. `None` when other packs have all of them.
    pub(super) async fn pack(&self, reach: Reach<'_>, priority: Priority) -> Result<Option<NewPack>, Error> {
        let mut command = self.commands.build_command(self.repository, priority);
        command.arg("--git-dir").arg(self.repository).args(PACK).arg(self.directory.join("pack"));
        let commits = reach.commits.iter().map(|commit| format!("{commit}\n"));
        let without = reach.without.iter().map(|commit| format!("^{commit}\n"));
        let name = run(command, commits.chain(without).collect()).await?;
        let path = self.directory.join(format!("pack-{name}.pack"));
        Ok((!name.is_empty()).then_some(NewPack { name, path }))
    }
}

/// Whether a repository has the pack.
pub(super) fn has(repository: &Path, pack: &StoredPack) -> bool {
    let path = path_of(repository, pack);
    let is_whole = fs::metadata(&path).is_ok_and(|file| file.len() == pack.bytes);
    is_whole && path.with_extension("idx").is_file()
}

/// Indexes the file of a downloaded pack, and adds it to a repository.
pub(super) async fn add(
    commands: &GitCommands,
    repository: &Path,
    pack: &StoredPack,
    file: &Path,
) -> Result<(), Error> {
    let mut command = commands.build_command(repository, Priority::Normal);
    command.args(INDEX).arg(file);
    let name = run(command, String::new()).await?;
    if name != pack.name {
        let detail = format!("the pack {} of the bucket has the objects of another pack, {name}", pack.name);
        return Err(Error::Pack { detail });
    }
    let to = path_of(repository, pack);
    // git finds packs by their indexes.
    let rename =
        || fs::rename(file, &to).and_then(|()| fs::rename(file.with_extension("idx"), to.with_extension("idx")));
    rename().map_err(Error::io("add a pack to a repository"))
}

/// Removes the packs that are not part of the contents.
pub(super) fn remove_others(repository: &Path, contents: &RepositoryContents) -> io::Result<()> {
    let used: HashSet<String> = contents.packs.iter().map(|pack| format!("pack-{}", pack.name)).collect();
    let mut others = Vec::new();
    for entry in fs::read_dir(repository.join(PACKS))? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        if stem.starts_with("pack-") && !used.contains(stem) {
            others.push(path);
        }
    }
    // The index comes first: git finds packs by it.
    others.sort_unstable_by_key(|path| path.extension() != Some(OsStr::new("idx")));
    others.iter().try_for_each(fs::remove_file)
}

/// Removes a pack and its index, if they are there.
pub(super) fn remove(pack: &Path) -> io::Result<()> {
    // The index comes first: git finds packs by it.
    for path in [pack.with_extension("idx"), pack.to_owned()] {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// The path of a pack in a repository.
pub(super) fn path_of(repository: &Path, pack: &StoredPack) -> PathBuf {
    repository.join(PACKS).join(format!("pack-{}.pack", pack.name))
}
