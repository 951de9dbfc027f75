//! Reads the files of one project at one commit, without a work tree.
//!
//! The tree is inspected before any file is loaded, so that memory is bounded. Nothing is written to disk, and no filter,
//! attribute or hook of the repository applies.

use std::collections::BTreeMap;

use git2::{ObjectType, Oid, Tree};
use registry::ProjectPath;

use crate::bare::{Repository, require};
use crate::commits::{CommitId, read_links};
use crate::error::{Error, KnownProjects};
use crate::trees::{DEPTH_MAX, ENTRIES_MAX, FILE_BYTES_MAX, Inspector, PATH_BYTES_MAX, TreeLimits, TreeRefusal};

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

/// Reads all files of a project directory at a commit. `project_files` are names of files that make their directory a project.
///
/// # Errors
/// [`Error::MissingProject`] with the directories that contain a project, or [`Error::RefusedTree`] with the
/// path from the repository's root and the violated rule.
pub fn export_project(
    repository: &Repository,
    commit: &CommitId,
    project_path: &ProjectPath,
    project_files: &[&str],
) -> Result<SourceTree, Error> {
    let git = repository.open()?;
    let root = load_root(&git, *commit)?;
    let Some(project) = find_directory(&git, &root, project_path)? else {
        // The message has no list when the tree cannot be read.
        let directories = find_projects(repository, commit, project_files).unwrap_or_default();
        let example = project_files.first().copied().unwrap_or_default().to_owned();
        let known = KnownProjects { directories, example };
        return Err(Error::MissingProject {
            project: project_path.to_string(),
            branch: None,
            commit: *commit,
            known: Box::new(known),
        });
    };
    let mut inspector = Inspector::new(&git, PROJECT_LIMITS).map_err(Error::git("open the objects"))?;
    inspector.inspect(project.id()).map_err(|refusal| show_from_root(refusal, project_path))?;
    let mut files = BTreeMap::new();
    add_files(&git, &project, "", &mut files)?;
    Ok(SourceTree { commit: *commit, files })
}

/// The directories of a commit that contain one of the project files, by name. The repository's root is left out, since a project
/// path is never empty.
pub fn find_projects(repository: &Repository, commit: &CommitId, project_files: &[&str]) -> Result<Vec<String>, Error> {
    let git = repository.open()?;
    let root = load_root(&git, *commit)?;
    let mut inspector = Inspector::new(&git, TreeLimits::PUSHED).map_err(Error::git("open the objects"))?;
    inspector.inspect(root.id())?;
    let mut directories = Vec::new();
    ProjectFinder { git: &git, project_files, found: &mut directories }.search(&root, "")?;
    directories.sort();
    Ok(directories)
}

fn load_root(git: &git2::Repository, commit: CommitId) -> Result<Tree<'_>, Error> {
    require(git, &commit)?;
    let links = git.odb().and_then(|objects| read_links(&objects, commit.oid()));
    let tree = links.map_err(Error::git("read a commit"))?.tree;
    git.find_tree(tree).map_err(Error::git("read the commit's tree"))
}

fn find_directory<'git>(
    git: &'git git2::Repository,
    root: &Tree<'git>,
    project_path: &ProjectPath,
) -> Result<Option<Tree<'git>>, Error> {
    let mut directory = root.clone();
    for part in project_path.as_str().split('/') {
        let id =
            directory.get_name(part).filter(|entry| entry.kind() == Some(ObjectType::Tree)).map(|entry| entry.id());
        let Some(id) = id else { return Ok(None) };
        directory = load_tree(git, id)?;
    }
    Ok(Some(directory))
}

fn show_from_root(refusal: TreeRefusal, project_path: &ProjectPath) -> TreeRefusal {
    project_path.as_str().rsplit('/').fold(refusal, |refusal, part| refusal.with_parent(part.as_bytes()))
}

/// Adds all files below a directory, with their paths. The inspection has bounded depth, count and sizes.
fn add_files(
    git: &git2::Repository,
    directory: &Tree<'_>,
    prefix: &str,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(), Error> {
    for entry in directory {
        let path = join_path(prefix, &entry)?;
        if entry.kind() == Some(ObjectType::Tree) {
            add_files(git, &load_tree(git, entry.id())?, &path, files)?;
        } else {
            let file = git.find_blob(entry.id()).map_err(Error::git("read a file"))?;
            files.insert(path, file.content().to_vec());
        }
    }
    Ok(())
}

/// Finds the projects of an inspected tree.
struct ProjectFinder<'a> {
    git: &'a git2::Repository,
    project_files: &'a [&'a str],
    found: &'a mut Vec<String>,
}

impl ProjectFinder<'_> {
    /// Adds the paths of all projects below a directory.
    fn search(&mut self, directory: &Tree<'_>, prefix: &str) -> Result<(), Error> {
        let is_project = self.project_files.iter().any(|file| directory.get_name(file).is_some());
        if !prefix.is_empty() && is_project {
            self.found.push(prefix.to_owned());
            return Ok(()); // directories below belong to this project
        }
        for entry in directory.iter().filter(|entry| entry.kind() == Some(ObjectType::Tree)) {
            self.search(&load_tree(self.git, entry.id())?, &join_path(prefix, &entry)?)?;
        }
        Ok(())
    }
}

fn load_tree(git: &git2::Repository, id: Oid) -> Result<Tree<'_>, Error> {
    git.find_tree(id).map_err(Error::git("read a directory"))
}

fn join_path(prefix: &str, entry: &git2::TreeEntry<'_>) -> Result<String, Error> {
    let name = entry.name().map_err(Error::git("read a file's name"))?;
    Ok(if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") })
}
