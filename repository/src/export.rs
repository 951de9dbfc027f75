//! Reads the files of one project at one commit, without a work tree.
//!
//! The tree is inspected before any file is loaded, so that memory is bounded. Nothing is written to disk, and no filter,
//! attribute or hook of the repository applies.

use std::collections::BTreeMap;

use git2::{ObjectType, Oid, Tree};
use registry::ProjectPath;

use super::commit_links::read_links;
use super::quarantine::{DEPTH_MAX, ENTRIES_MAX, FILE_BYTES_MAX, Inspector, PATH_BYTES_MAX, TreeLimits};
use super::repository::require;
use super::{CommitId, Repository, SourceError, TreeRefusal};
use crate::toolchain::languages::CONVENTIONS;

/// Bytes of all files of a project, which are in memory during its build. A tool's sources are about a hundredth of it.
pub const PROJECT_BYTES_MAX: u64 = 20 * 1024 * 1024;

const PROJECT_LIMITS: TreeLimits = TreeLimits {
    file_bytes_max: FILE_BYTES_MAX,
    content_bytes_max: PROJECT_BYTES_MAX,
    entries_max: ENTRIES_MAX,
    depth_max: DEPTH_MAX,
    path_bytes_max: PATH_BYTES_MAX,
};

/// A project's files by their path within the project, with `/` as the separator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceTree {
    pub commit: CommitId,
    pub files: BTreeMap<String, Vec<u8>>,
}

/// Reads all files of a project directory at a commit.
///
/// # Errors
/// [`SourceError::MissingProject`] with the directories that contain a project, or [`SourceError::RefusedTree`] with the
/// path from the repository's root and the violated rule.
pub fn export(
    repository: &Repository,
    commit: &CommitId,
    project_path: &ProjectPath,
) -> Result<SourceTree, SourceError> {
    let git = repository.open()?;
    let root = root_of(&git, *commit)?;
    let Some(project) = find_directory(&git, &root, project_path)? else {
        return Err(missing(repository, commit, project_path));
    };
    let mut inspector = Inspector::new(&git, PROJECT_LIMITS).map_err(SourceError::git("open the objects"))?;
    inspector.inspect(project.id()).map_err(|refusal| seen_from_root(refusal, project_path))?;
    let mut files = BTreeMap::new();
    TreeReader(&git).add_files(&project, "", &mut files)?;
    Ok(SourceTree { commit: *commit, files })
}

/// The directories of a commit that contain a project file, by name. The repository's root is left out, since a project
/// path is never empty.
pub fn project_directories(repository: &Repository, commit: &CommitId) -> Result<Vec<String>, SourceError> {
    let git = repository.open()?;
    let root = root_of(&git, *commit)?;
    let mut inspector = Inspector::new(&git, TreeLimits::PUSHED).map_err(SourceError::git("open the objects"))?;
    inspector.inspect(root.id())?;
    let mut directories = Vec::new();
    TreeReader(&git).add_projects(&root, "", &mut directories)?;
    directories.sort();
    Ok(directories)
}

fn root_of(git: &git2::Repository, commit: CommitId) -> Result<Tree<'_>, SourceError> {
    require(git, &commit)?;
    let links = git.odb().and_then(|objects| read_links(&objects, commit.oid()));
    let tree = links.map_err(SourceError::git("read a commit"))?.tree;
    git.find_tree(tree).map_err(SourceError::git("read the commit's tree"))
}

fn find_directory<'git>(
    git: &'git git2::Repository,
    root: &Tree<'git>,
    project_path: &ProjectPath,
) -> Result<Option<Tree<'git>>, SourceError> {
    let mut directory = root.clone();
    for part in project_path.as_str().split('/') {
        let id =
            directory.get_name(part).filter(|entry| entry.kind() == Some(ObjectType::Tree)).map(|entry| entry.id());
        let Some(id) = id else { return Ok(None) };
        directory = load(git, id)?;
    }
    Ok(Some(directory))
}

fn missing(repository: &Repository, commit: &CommitId, project_path: &ProjectPath) -> SourceError {
    // The message has no list when the tree cannot be read.
    let directories = project_directories(repository, commit).unwrap_or_default();
    SourceError::MissingProject { project: project_path.to_string(), branch: None, commit: *commit, directories }
}

fn seen_from_root(refusal: TreeRefusal, project_path: &ProjectPath) -> TreeRefusal {
    project_path.as_str().rsplit('/').fold(refusal, |refusal, part| refusal.under(part.as_bytes()))
}

/// A repository whose inspected trees are read; the inspection bounds depth, count and sizes.
struct TreeReader<'git>(&'git git2::Repository);

impl TreeReader<'_> {
    /// Adds all files below a directory, with their paths.
    fn add_files(
        &self,
        directory: &Tree<'_>,
        prefix: &str,
        files: &mut BTreeMap<String, Vec<u8>>,
    ) -> Result<(), SourceError> {
        for entry in directory {
            let path = join(prefix, &entry)?;
            if entry.kind() == Some(ObjectType::Tree) {
                self.add_files(&load(self.0, entry.id())?, &path, files)?;
            } else {
                let file = self.0.find_blob(entry.id()).map_err(SourceError::git("read a file"))?;
                files.insert(path, file.content().to_vec());
            }
        }
        Ok(())
    }

    /// Adds the paths of all projects below a directory.
    fn add_projects(&self, directory: &Tree<'_>, prefix: &str, found: &mut Vec<String>) -> Result<(), SourceError> {
        let is_project = CONVENTIONS.iter().any(|convention| directory.get_name(convention.file).is_some());
        if !prefix.is_empty() && is_project {
            found.push(prefix.to_owned());
            return Ok(()); // directories below belong to this project
        }
        for entry in directory.iter().filter(|entry| entry.kind() == Some(ObjectType::Tree)) {
            self.add_projects(&load(self.0, entry.id())?, &join(prefix, &entry)?, found)?;
        }
        Ok(())
    }
}

fn load(git: &git2::Repository, id: Oid) -> Result<Tree<'_>, SourceError> {
    git.find_tree(id).map_err(SourceError::git("read a directory"))
}

fn join(prefix: &str, entry: &git2::TreeEntry<'_>) -> Result<String, SourceError> {
    let name = entry.name().map_err(SourceError::git("read a file's name"))?;
    Ok(if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") })
}
