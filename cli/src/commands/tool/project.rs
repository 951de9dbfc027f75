//! The path of a project within its git repository, and the current branch.

use std::path::Path;

use registry::{BranchName, ProjectPath};

use super::checkout::run_git;
use crate::failure::Failure;

/// Returns a project's path within its repository: from git for a local directory, else the given path.
pub fn find_project_path(local: Option<&Path>) -> anyhow::Result<ProjectPath> {
    let directory = local.unwrap_or(Path::new("."));
    let prefix = if directory.is_dir() { run_git(directory, &["rev-parse", "--show-prefix"]) } else { None };
    let path = match (prefix, local) {
        (Some(prefix), _) => prefix,
        (None, Some(local)) => local.to_string_lossy().into_owned(),
        (None, None) => String::new(),
    };
    let path = path.trim_matches('/').to_owned();
    if path.is_empty() || path == "." {
        return Err(Failure::usage(
            "the project must be in a subdirectory of its repository, not at the root",
            "change to the project's directory, or give its path within the repository",
        ));
    }
    ProjectPath::parse(&path)
        .map_err(|error| Failure::usage(error.to_string(), "give the project's path within the repository"))
}

/// Returns the branch that is checked out in the current directory.
pub fn find_current_branch() -> anyhow::Result<BranchName> {
    let branch = run_git(Path::new("."), &["symbolic-ref", "--short", "HEAD"]);
    let branch = branch
        .ok_or_else(|| Failure::usage("no branch is checked out in the current directory", "name one with --branch"))?;
    BranchName::parse(&branch).map_err(|error| Failure::usage(error.to_string(), "name another one with --branch"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_does_not_exist_is_used_as_given() {
        assert_eq!(find_project_path(Some(Path::new("tools/weather/"))).expect("a path").as_str(), "tools/weather");
    }

    #[test]
    fn the_root_is_not_a_project() {
        let directory = tempfile::tempdir().expect("a directory");
        assert!(run_git(directory.path(), &["init", "--quiet"]).is_some(), "git is needed: apt-get install git");
        assert!(find_project_path(Some(directory.path())).is_err());
        std::fs::create_dir_all(directory.path().join("tools/weather")).expect("created");
        let path = find_project_path(Some(&directory.path().join("tools/weather"))).expect("a path");
        assert_eq!(path.as_str(), "tools/weather");
    }
}
