//! The git checkout on this machine, and what differs between it and a branch on the server.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use reqwest::Url;

/// Files or directories that a message names.
const FILES_NAMED_MAX: usize = 3;
/// Characters of an abbreviated commit id, as in the table of versions.
const COMMIT_CHARACTERS: usize = 12;

/// The end of the addresses of organisations' repositories.
const REPOSITORY: &str = "/tool/git/tools.git";

/// The manifests of projects, for any directory.
const MANIFESTS: [&str; 3] = [":(glob)**/pyproject.toml", ":(glob)**/package.json", ":(glob)**/Cargo.toml"];

pub struct Checkout {
    directory: PathBuf,
    /// The commit that is checked out.
    pub head: String,
    /// The branch that is checked out. `None` for a detached commit.
    pub branch: Option<String>,
}

impl Checkout {
    /// The checkout around a directory. `None` without git and without a commit.
    pub fn find(near: &Path) -> Option<Self> {
        let directory = PathBuf::from(run_git(near, &["rev-parse", "--show-toplevel"])?);
        let head = run_git(&directory, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
        let branch = run_git(&directory, &["symbolic-ref", "--short", "HEAD"]);
        Some(Self { directory, head, branch })
    }

    pub fn has_directory(&self, path: &str) -> bool {
        self.directory.join(path).is_dir()
    }

    /// The directories with a manifest.
    pub fn find_projects(&self) -> Vec<String> {
        let arguments = [&["ls-files", "--cached", "--others", "--exclude-standard", "--"][..], &MANIFESTS].concat();
        let listed = run_git(&self.directory, &arguments).unwrap_or_default();
        let directories =
            listed.lines().filter_map(|file| file.rsplit_once('/')).map(|(directory, _)| directory.to_owned());
        directories.collect::<BTreeSet<_>>().into_iter().filter(|directory| self.has_directory(directory)).collect()
    }

    /// The subject of a commit, if this clone has the commit.
    pub fn find_subject(&self, commit: &str) -> Option<String> {
        run_git(&self.directory, &["log", "-1", "--format=%s", commit])
    }

    /// The remote with this address.
    pub fn find_remote(&self, address: &str) -> Option<String> {
        find_remote_with(&self.directory, address)
    }

    /// Whether a remote is the repository of another organisation or server.
    pub fn is_of_others(&self, address: &str) -> bool {
        let listed = run_git(&self.directory, &["config", "--get-regexp", r"^remote\..*\.url$"]).unwrap_or_default();
        let is_hosted = |line: &str| line.trim_end_matches('/').ends_with(REPOSITORY);
        self.find_remote(address).is_none() && listed.lines().any(is_hosted)
    }

    /// Commits that only the checkout has, and those that only the commit has. `None` if this clone lacks the commit.
    pub fn count_ahead_and_behind(&self, commit: &str) -> Option<(u64, u64)> {
        let range = format!("HEAD...{commit}");
        let counts = run_git(&self.directory, &["rev-list", "--left-right", "--count", &range])?;
        let (ahead, behind) = counts.split_once('\t')?;
        Some((ahead.parse().ok()?, behind.parse().ok()?))
    }

    /// Files of the project with changes that are not committed.
    pub fn list_changed_files(&self, project_path: &str) -> Vec<String> {
        let arguments = ["--no-optional-locks", "status", "--porcelain", "--untracked-files=all", "--", project_path];
        let listed = run_git(&self.directory, &arguments).unwrap_or_default();
        listed.lines().filter_map(|line| line.get(3..)).map(str::to_owned).collect()
    }
}

/// The remote with an address, in the checkout around a directory. Credentials in an address do not count.
pub fn find_remote_with(directory: &Path, address: &str) -> Option<String> {
    let listed = run_git(directory, &["config", "--get-regexp", r"^remote\..*\.url$"])?;
    let wanted = strip_user(address)?;
    listed.lines().find_map(|line| {
        let (key, url) = line.split_once(' ')?;
        let name = key.strip_prefix("remote.")?.strip_suffix(".url")?;
        (strip_user(url)? == wanted).then(|| name.to_owned())
    })
}

/// The first of some files or directories, as text.
pub fn join_names(files: &[String]) -> String {
    let named = files.iter().take(FILES_NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(FILES_NAMED_MAX) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

pub fn abbreviate(commit: &str) -> &str {
    commit.get(..COMMIT_CHARACTERS).unwrap_or(commit)
}

fn strip_user(address: &str) -> Option<Url> {
    let mut url = Url::parse(address).ok()?;
    // Fails only for addresses without a host, which have no user.
    let _ = url.set_username("").and_then(|()| url.set_password(None));
    Some(url)
}

/// Runs git in a directory and returns what it prints. `None` if it fails.
pub fn run_git(directory: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(directory).args(arguments).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim_end_matches('\n').to_owned())
}

#[cfg(test)]
impl Checkout {
    pub fn for_tests(branch: Option<&str>) -> Self {
        Self { directory: PathBuf::new(), head: String::new(), branch: branch.map(str::to_owned) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_of_an_address_do_not_count() {
        let url = |text: &str| strip_user(text).expect("a URL");
        assert_eq!(url("http://acme_ada:token@127.0.0.1:1/v1/acme"), url("http://127.0.0.1:1/v1/acme"));
        assert!(strip_user("git@example.com:tools").is_none());
    }

    #[test]
    fn three_files_are_named() {
        let files: Vec<String> = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        assert_eq!((join_names(&files), join_names(&files[..2])), ("a, b, c and 1 more".to_owned(), "a, b".to_owned()));
    }
}
