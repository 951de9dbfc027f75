//! Copies of repositories for backups, beside a running server.
//!
//! A copy has the refs in one file and all objects that they reach in one pack. The refs are read first. The objects of a pin
//! are never deleted. Those of a branch that was moved meanwhile may be, by a garbage collection: git then reports a missing
//! object, and the copy is made again with the refs of that time.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::error::Error;
use crate::git::{GitCommands, GitProgram, Priority};

/// Attempts to copy a repository. Each failure takes a garbage collection, and collections are minutes apart.
const ATTEMPTS_MAX: usize = 5;

/// The refs, in the format of git, and the first line of this format.
const REFS_FILE: &str = "packed-refs";
const REFS_HEAD: &str = "# pack-refs with: sorted \n";

/// The directory of packs in a repository, and the name of a pack before its digest is known.
const PACKS: &str = "objects/pack";
const NEW_PACK: &str = "new.pack";

/// All objects that the given commits reach, with the deltas that are there: no new ones are searched for.
const PACK: [&str; 6] = ["pack-objects", "--revs", "--stdout", "--delta-base-offset", "--window=0", "-q"];
/// Writes the index of a pack, checks its objects, and prints its digest.
const INDEX: [&str; 3] = ["index-pack", "--object-format=sha1", "--no-rev-index"];

const VERIFY: [&str; 4] = ["fsck", "--full", "--no-dangling", "--no-progress"];

/// Only the owner reads a copy.
const FILE_MODE: u32 = 0o600;

/// Copies the repositories below one directory.
#[derive(Debug, Clone)]
pub struct RepositoryCopier {
    commands: GitCommands,
    root: PathBuf,
}

/// A ref and what it points to.
struct Ref {
    name: Vec<u8>,
    target: git2::Oid,
}

impl RepositoryCopier {
    pub fn new(git: GitProgram, root: &Path) -> Self {
        Self { commands: GitCommands::new(git, root), root: root.to_owned() }
    }

    /// The names of the repositories' directories, in order.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let entries = match fs::read_dir(&self.root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(Error::io("list the repositories"))?,
        };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".git")).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Copies a repository to a new directory. The copy is flushed by the caller.
    pub async fn copy(&self, name: &str, to: &Path) -> Result<(), Error> {
        let repository = self.root.join(name);
        let mut attempt = 1;
        loop {
            create_directory(&to.join(PACKS))?;
            match self.try_copy(&repository, to).await {
                Err(Error::Copy { .. }) if attempt < ATTEMPTS_MAX => attempt += 1,
                copied => return copied,
            }
            fs::remove_dir_all(to).map_err(Error::io("remove an incomplete copy"))?;
        }
    }

    /// Reads all objects of a repository, and checks that it has every object that a ref reaches.
    ///
    /// # Errors
    /// [`Error::Damaged`] with git's words.
    pub async fn verify(&self, name: &str) -> Result<(), Error> {
        let repository = self.root.join(name);
        let mut command = self.commands.build_command(&repository, Priority::Low);
        let output = command.arg("--git-dir").arg(&repository).args(VERIFY).output().await;
        let output = output.map_err(Error::io("run git"))?;
        let words = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => Ok(()),
            Some(_) => Err(Error::Damaged { detail: words.lines().next().unwrap_or_default().to_owned() }),
            // Beyond the limit of processor time.
            None => Err(Error::Copy { detail: "it is too large to be checked".to_owned() }),
        }
    }

    async fn try_copy(&self, repository: &Path, to: &Path) -> Result<(), Error> {
        let refs = list_refs(repository).map_err(Error::git("read the refs of a repository"))?;
        let lines =
            refs.iter().flat_map(|Ref { name, target }| [format!("{target} ").as_bytes(), name, b"\n"].concat());
        let file: Vec<u8> = REFS_HEAD.bytes().chain(lines).collect();
        fs::write(to.join(REFS_FILE), file).map_err(Error::io("write the refs"))?;
        let pack = to.join(PACKS).join(NEW_PACK);
        let targets: String = refs.iter().map(|Ref { target, .. }| format!("{target}\n")).collect();
        self.write_pack(repository, &targets, &pack).await?;
        let mut index = self.commands.build_command(repository, Priority::Normal);
        index.args(INDEX).arg(&pack);
        let digest = String::from_utf8_lossy(&require_success(index.output().await)?.stdout).trim().to_owned();
        for (from, extension) in [(&pack, "pack"), (&pack.with_extension("idx"), "idx")] {
            let name = to.join(PACKS).join(format!("pack-{digest}.{extension}"));
            fs::rename(from, &name).map_err(Error::io("name a pack"))?;
            // git lets everyone read the index.
            fs::set_permissions(&name, Permissions::from_mode(FILE_MODE)).map_err(Error::io("close a pack"))?;
        }
        Ok(())
    }

    async fn write_pack(&self, repository: &Path, targets: &str, pack: &Path) -> Result<(), Error> {
        let file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(pack);
        let file = file.map_err(Error::io("create a pack"))?;
        let mut command = self.commands.build_command(repository, Priority::Normal);
        command.arg("--git-dir").arg(repository).args(PACK);
        feed(command.stdin(Stdio::piped()).stdout(file), targets).await
    }
}

/// The refs except symbolic ones, in the order of their names.
fn list_refs(repository: &Path) -> Result<Vec<Ref>, git2::Error> {
    let git = git2::Repository::open_bare(repository)?;
    let mut refs = Vec::new();
    for reference in git.references()? {
        let reference = reference?;
        let name = reference.name_bytes().to_vec();
        refs.extend(reference.target().map(|target| Ref { name, target }));
    }
    refs.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(refs)
}

/// Runs a command with a text on its standard input.
async fn feed(command: &mut Command, text: &str) -> Result<(), Error> {
    let mut child = command.spawn().map_err(Error::io("start git"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command that does not read its input ends with an error.
        stdin.write_all(text.as_bytes()).await.unwrap_or_default();
    }
    require_success(child.wait_with_output().await).map(drop)
}

fn require_success(output: io::Result<Output>) -> Result<Output, Error> {
    let output = output.map_err(Error::io("run git"))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(Error::Copy { detail: String::from_utf8_lossy(&output.stderr).trim_end().to_owned() })
}

fn create_directory(path: &Path) -> Result<(), Error> {
    let created = DirBuilder::new().recursive(true).mode(0o700).create(path);
    created.map_err(Error::io("create the directory of a copy"))
}
