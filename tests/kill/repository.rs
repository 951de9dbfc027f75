//! Compares the pushes of the ledger with the hosted repository, and looks for what a stopped git leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use super::action::What;
use super::findings::Findings;
use super::ledger::Entry;
use crate::harness::{PATIENCE, Repository, Server, Team};

/// Prefixes of directories and packs that git has not finished.
const TEMPORARY: [&str; 3] = ["tmp_", ".tmp-", ".new-"];

/// Attempts of a check that finds something.
const CHECKS_MAX: usize = 100;
const PAUSE: Duration = Duration::from_millis(200);

pub struct HostedRepository<'a> {
    git: &'a Repository,
    path: PathBuf,
}

impl<'a> HostedRepository<'a> {
    /// The repository of a team at a server.
    pub fn of(team: &'a Team, server: &Server) -> Self {
        let path = server.data().join(format!("git/{}.git", team.organization));
        Self { git: &team.repository, path }
    }

    /// Asserts that each acknowledged commit of these branches is the tip of its branch or an ancestor of it.
    pub fn compare<'e>(
        &self,
        own: &BTreeSet<&str>,
        entries: impl Iterator<Item = (u64, &'e Entry)>,
        findings: &mut Findings,
    ) {
        let mut branches = BTreeMap::new();
        for (number, entry) in entries.filter(|(_, entry)| own.contains(entry.action.branch.as_str())) {
            let (What::Push { commit, .. }, branch) = (&entry.action.what, &entry.action.branch) else { continue };
            let commits = branches.entry(branch).or_insert_with(|| self.commits(branch));
            if entry.is_acknowledged() && !commits.contains(commit) {
                findings.lost.push(format!("push {number} of {commit} to {branch}"));
            }
        }
    }

    /// Returns what `git fsck` finds wrong. The collection after a start replaces packs, which fsck reports; damage stays.
    pub fn damage(&self) -> Option<String> {
        let mut found = None;
        for _ in 0..CHECKS_MAX {
            let said =
                self.git.git(&[&self.directory(), "fsck", "--full", "--strict", "--no-dangling", "--no-progress"]);
            if said.code == Some(0) {
                return None;
            }
            found = Some(format!("git fsck: {said:?}"));
            std::thread::sleep(PAUSE);
        }
        found
    }

    /// Returns the locks and temporary files that stay. A git of a killed server may end later than the server.
    pub fn leftovers(&self) -> Vec<PathBuf> {
        let root = self.path.parent().expect("a directory of repositories");
        let deadline = Instant::now() + PATIENCE;
        loop {
            let mut left = Vec::new();
            collect_leftovers(root, &mut left);
            if left.is_empty() || Instant::now() > deadline {
                return left;
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Moves a branch back to the parent of its tip.
    pub fn rewind(&self, branch: &str) {
        let reference = format!("refs/heads/{branch}");
        self.git.ok(&[&self.directory(), "update-ref", &reference, &format!("{reference}~1")]);
    }

    fn commits(&self, branch: &str) -> BTreeSet<String> {
        let said = self.git.git(&[&self.directory(), "rev-list", &format!("refs/heads/{branch}")]);
        said.stdout.lines().map(str::to_owned).collect()
    }

    fn directory(&self) -> String {
        format!("--git-dir={}", self.path.display())
    }
}

fn collect_leftovers(directory: &Path, found: &mut Vec<PathBuf>) {
    // A file may be removed meanwhile.
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let is_temporary = TEMPORARY.iter().any(|prefix| name.starts_with(prefix));
        if is_temporary || name.ends_with(".lock") || name.ends_with(".keep") {
            found.push(path);
        } else if path.is_dir() {
            collect_leftovers(&path, found);
        }
    }
}
