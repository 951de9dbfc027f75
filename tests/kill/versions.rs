//! Compares the publications and deprecations of the ledger with the versions in the database and their artifacts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::action::{Action, Outcome, What};
use super::database::VersionRow;
use super::findings::Findings;
use super::ledger::{Entries, Entry};

type ToolVersion<'a> = (&'a str, &'a str);

/// The texts in the sources of pushed commits, and the commits of versions.
pub struct Marks<'a> {
    by_commit: BTreeMap<&'a str, &'a str>,
    commits: BTreeMap<ToolVersion<'a>, &'a str>,
}

impl<'a> Marks<'a> {
    pub fn of(entries: &'a Entries) -> Self {
        let (mut by_commit, mut commits) = (BTreeMap::new(), BTreeMap::new());
        for entry in entries.all.values() {
            match (&entry.action.what, published(entry)) {
                (What::Push { commit, mark }, _) => drop(by_commit.insert(commit.as_str(), mark.as_str())),
                (What::Publish { commit }, Some(version)) => drop(commits.insert(version, commit.as_str())),
                _ => {}
            }
        }
        Self { by_commit, commits }
    }

    /// The text that every output of a version contains.
    pub fn of_version(&self, tool: &str, version: &str) -> Option<&'a str> {
        self.by_commit.get(self.commits.get(&(tool, version))?).copied()
    }
}

/// The acknowledged version of a publication.
fn published(entry: &Entry) -> Option<ToolVersion<'_>> {
    match (&entry.action.what, &entry.outcome) {
        (What::Publish { .. }, Some(Outcome::Acknowledged { version, .. })) => {
            Some((&entry.action.tool, version.as_deref().unwrap_or_default()))
        }
        _ => None,
    }
}

/// The versions in the database beside the ledger.
pub struct Versions<'a> {
    pub rows: &'a [VersionRow],
    pub data: &'a Path,
}

impl Versions<'_> {
    pub fn compare(&self, entries: &Entries, is_deep: bool, findings: &mut Findings) {
        let rows: BTreeMap<ToolVersion<'_>, &VersionRow> =
            self.rows.iter().map(|row| ((row.tool.as_str(), row.version.as_str()), row)).collect();
        let mut acknowledged = BTreeMap::new();
        for (number, entry) in &entries.all {
            let (Some(version), What::Publish { commit }) = (published(entry), &entry.action.what) else { continue };
            if let Some(first) = acknowledged.insert(version, number) {
                findings.doubled.push(format!("publications {first} and {number} were both told {version:?}"));
            }
            if rows.get(&version).is_none_or(|row| row.commit != *commit) {
                findings.lost.push(format!("version {version:?} of publication {number}: {:?}", rows.get(&version)));
            }
        }
        let unasked =
            self.rows.iter().filter(|row| !acknowledged.contains_key(&(row.tool.as_str(), row.version.as_str())));
        findings.doubled.extend(unexplained(entries, unasked));
        compare_deprecations(entries, &rows, findings);
        let new = self.rows.iter().filter(|row| is_deep || is_recent(entries, row));
        findings.half_published.extend(new.flat_map(|row| self.missing_parts(row)));
    }

    /// The parts that a version lacks.
    fn missing_parts(&self, row: &VersionRow) -> Vec<String> {
        let mut missing = Vec::new();
        if row.build != "succeeded" || row.document_bytes.contains(&0) || row.digests.len() != 2 {
            missing.push(format!("build or attestation of {row:?}"));
        }
        // All versions share the image, whose bytes the server compares at its start.
        let image = row.digests.first().filter(|digest| !self.artifact(digest).is_file());
        let bundle = row.digests.get(1).filter(|digest| !is_whole(&self.artifact(digest), digest));
        missing.extend(image.into_iter().chain(bundle).map(|digest| format!("artifact {digest} of {row:?}")));
        missing
    }

    fn artifact(&self, digest: &str) -> PathBuf {
        let hexadecimal = digest.trim_start_matches("sha256:");
        self.data.join("artifacts").join(&hexadecimal[..2]).join(hexadecimal)
    }
}

/// Versions that no client was told about. A publication that was cut off may have made one each. Its own commit is the one that the
/// branch had when it came so far, and a later one when another server began it.
fn unexplained<'a>(entries: &Entries, unasked: impl Iterator<Item = &'a VersionRow>) -> Vec<String> {
    let mut open: Vec<_> = entries.all.values().filter(|entry| entry.is_open()).map(|entry| &entry.action).collect();
    let mut found = Vec::new();
    for row in unasked {
        let publishes = |action: &&Action| matches!(action.what, What::Publish { .. }) && action.tool == row.tool;
        let is_exact = |action: &&Action| matches!(&action.what, What::Publish { commit } if *commit == row.commit);
        let exact = open.iter().position(|action| publishes(action) && is_exact(action));
        match exact.or_else(|| open.iter().position(publishes)) {
            Some(index) => drop(open.swap_remove(index)),
            None => found.push(format!("a version that no client was told about: {row:?}")),
        }
    }
    found
}

fn compare_deprecations(entries: &Entries, rows: &BTreeMap<ToolVersion<'_>, &VersionRow>, findings: &mut Findings) {
    let mut asked = BTreeSet::new();
    for (number, entry) in &entries.all {
        let What::Deprecate { version } = &entry.action.what else { continue };
        let version = (entry.action.tool.as_str(), version.as_str());
        asked.insert(version);
        if entry.is_acknowledged() && !rows.get(&version).is_some_and(|row| row.is_deprecated) {
            findings.lost.push(format!("deprecation {number} of {version:?}"));
        }
    }
    let unasked = rows.iter().filter(|(version, row)| row.is_deprecated && !asked.contains(*version));
    findings.other.extend(unasked.map(|(version, _)| format!("{version:?} was deprecated by nobody")));
}

/// Whether a version comes from one of the last publications.
pub fn is_recent(entries: &Entries, row: &VersionRow) -> bool {
    let mut recent = entries.selected(false).map(|(_, entry)| &entry.action);
    recent.any(
        |action| matches!(&action.what, What::Publish { commit } if action.tool == row.tool && *commit == row.commit),
    )
}

fn is_whole(path: &Path, digest: &str) -> bool {
    std::fs::read(path).is_ok_and(|bytes| digest == format!("sha256:{}", hex::encode(Sha256::digest(bytes))))
}
