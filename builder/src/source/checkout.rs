//! The files of one project at one commit, read without a work tree.
//!
//! The tree is inspected before anything is loaded, so that what follows is bounded; nothing is written to disk and no
//! filter, attribute or hook of the repository applies.

use std::collections::BTreeMap;

use git2::{ObjectType, Oid, Tree};
use registry::ProjectPath;

use super::quarantine::{DEPTH_MAX, ENTRIES_MAX, FILE_BYTES_MAX, Inspector, PATH_BYTES_MAX, TreeLimits};
use super::{CommitId, Repository, SourceError, TreeRefusal};

/// All files of one project, held in memory while it is built: a tool's source is a hundredth of it.
pub const PROJECT_BYTES_MAX: u64 = 20 * 1024 * 1024;

/// Files that make a directory a project, one per language.
const PROJECT_FILES: [&str; 3] = ["pyproject.toml", "package.json", "Cargo.toml"];

const PROJECT_LIMITS: TreeLimits = TreeLimits {
    file_bytes_max: FILE_BYTES_MAX,
    content_bytes_max: PROJECT_BYTES_MAX,
    entries_max: ENTRIES_MAX,
    depth_max: DEPTH_MAX,
    path_bytes_max: PATH_BYTES_MAX,
};

/// A project's files by their path within the project, separated by `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceTree {
    pub commit: CommitId,
    pub files: BTreeMap<String, Vec<u8>>,
}

/// Reads all files of a project directory at a commit.
///
/// Fails with [`SourceError::MissingProject`], which names the directories that do hold a project, or with
/// [`SourceError::RefusedTree`], which names the path from the repository's root and the rule.
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
    collect(&git, &project, "", &mut files)?;
    Ok(SourceTree { commit: *commit, files })
}

/// The directories of a commit that hold a project file, in order of name; the repository's root is not among them,
/// since a project path is never empty.
pub fn project_directories(repository: &Repository, commit: &CommitId) -> Result<Vec<String>, SourceError> {
    let git = repository.open()?;
    let root = root_of(&git, *commit)?;
    let mut inspector = Inspector::new(&git, TreeLimits::PUSHED).map_err(SourceError::git("open the objects"))?;
    inspector.inspect(root.id())?;
    let mut directories = Vec::new();
    collect_projects(&git, &root, "", &mut directories)?;
    directories.sort();
    Ok(directories)
}

fn root_of(git: &git2::Repository, commit: CommitId) -> Result<Tree<'_>, SourceError> {
    let found = git.find_commit(commit.oid()).map_err(|_| SourceError::UnknownCommit { commit })?;
    found.tree().map_err(SourceError::git("read the commit's tree"))
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
    // The list only helps the reader; a tree that cannot be listed leaves the message without it.
    let directories = project_directories(repository, commit).unwrap_or_default();
    SourceError::MissingProject { project: project_path.to_string(), commit: *commit, directories }
}

fn seen_from_root(refusal: TreeRefusal, project_path: &ProjectPath) -> TreeRefusal {
    project_path.as_str().rsplit('/').fold(refusal, |refusal, part| refusal.under(part.as_bytes()))
}

/// Adds the files below an inspected directory; the inspection has bounded depth, count and sizes.
fn collect(
    git: &git2::Repository,
    directory: &Tree<'_>,
    prefix: &str,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(), SourceError> {
    for entry in directory {
        let path = join(prefix, &entry)?;
        if entry.kind() == Some(ObjectType::Tree) {
            collect(git, &load(git, entry.id())?, &path, files)?;
        } else {
            let file = git.find_blob(entry.id()).map_err(SourceError::git("read a file"))?;
            files.insert(path, file.content().to_vec());
        }
    }
    Ok(())
}

fn collect_projects(
    git: &git2::Repository,
    directory: &Tree<'_>,
    prefix: &str,
    found: &mut Vec<String>,
) -> Result<(), SourceError> {
    if !prefix.is_empty() && PROJECT_FILES.iter().any(|name| directory.get_name(name).is_some()) {
        found.push(prefix.to_owned());
        return Ok(()); // what is below it is part of it
    }
    for entry in directory.iter().filter(|entry| entry.kind() == Some(ObjectType::Tree)) {
        collect_projects(git, &load(git, entry.id())?, &join(prefix, &entry)?, found)?;
    }
    Ok(())
}

fn load(git: &git2::Repository, id: Oid) -> Result<Tree<'_>, SourceError> {
    git.find_tree(id).map_err(SourceError::git("read a directory"))
}

fn join(prefix: &str, entry: &git2::TreeEntry<'_>) -> Result<String, SourceError> {
    let name = entry.name().map_err(SourceError::git("read a file's name"))?;
    Ok(if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") })
}
