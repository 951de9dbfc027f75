//! The `pre-receive` hook, which accepts or refuses a push before any branch moves.
//!
//! git starts the hook once for each push, with one line `<old> <new> <ref>` for each branch. The pushed objects are in a
//! quarantine directory beside the repository's own objects. A refusal concerns the whole push; git then deletes the
//! quarantine.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::BufRead;
use std::path::PathBuf;

use git2::{ObjectType, Oid};
use registry::visible;

use super::objects::{Pushed, inspect_objects, require_utf8};
use super::refusal::{BRANCHES_MAX, PUSH_OPTIONS, PushRefusal, UPDATES_MAX, describe_stand_in, find_name_problem};
use crate::bare::{measure_bytes, measure_usage};
use crate::commits::{CommitLinks, read_links};
use crate::ref_names::{BRANCHES, MAIN_REF};
use crate::trees::{Inspector, TreeLimits, fold};

/// The variable with the organisation, for the hook's messages.
pub(crate) const ORGANIZATION_VARIABLE: &str = "LATHE_ORGANIZATION";
/// The variable with the repository's quota in bytes.
pub(crate) const REPOSITORY_BYTES_VARIABLE: &str = "LATHE_REPOSITORY_BYTES_MAX";
/// The directory of the branches that versions are published from. A branch of this name would prevent them all.
const RELEASES: &str = "releases";

/// Bytes of a push's lines: [`UPDATES_MAX`] of the longest.
const INPUT_BYTES_MAX: u64 = UPDATES_MAX as u64 * 512;

/// The environment of the hook.
#[derive(Debug, Clone)]
pub struct HookEnvironment {
    /// `GIT_DIR`.
    pub repository: PathBuf,
    /// `GIT_QUARANTINE_PATH`; absent when the push contains no objects.
    pub quarantine: Option<PathBuf>,
    /// The team's name, for messages.
    pub organization: String,
    /// The repository's quota; absent when the service did not start git.
    pub repository_bytes_max: Option<u64>,
    /// Whether the client sent push options, such as those of another service's CI.
    pub has_push_options: bool,
}

struct Update {
    is_new_branch: bool,
    /// `None` for a deletion.
    new: Option<Oid>,
    reference: String,
}

impl Update {
    fn branch(&self) -> &str {
        self.reference.strip_prefix(BRANCHES).unwrap_or(&self.reference)
    }
}

impl HookEnvironment {
    /// Reads the variables through `variable`, usually `std::env::var_os`.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let text = |name: &str| variable(name).and_then(|value| value.into_string().ok());
        Self {
            repository: variable("GIT_DIR").map_or_else(|| PathBuf::from("."), PathBuf::from),
            quarantine: variable("GIT_QUARANTINE_PATH").map(PathBuf::from),
            organization: text(ORGANIZATION_VARIABLE).unwrap_or_else(|| "<team>".to_owned()),
            repository_bytes_max: text(REPOSITORY_BYTES_VARIABLE).and_then(|bytes| bytes.parse().ok()),
            has_push_options: text("GIT_PUSH_OPTION_COUNT").is_some_and(|count| count != "0"),
        }
    }
}

/// Checks one push. Returns notes, which git shows to the client.
///
/// Branches may be created, moved, forced and deleted, except `main`; other refs may not. Every pushed object and tree must be
/// within [`TreeLimits::PUSHED`] and the rules for names.
///
/// # Errors
/// The first violated rule.
pub fn check_push(stdin: impl BufRead, environment: &HookEnvironment) -> Result<Vec<String>, PushRefusal> {
    let updates = read_updates(stdin)?;
    for update in &updates {
        check_reference(&update.reference, &environment.organization)?;
    }
    check_branches(&updates, environment)?;
    check_quota(environment)?;
    let pushed = environment.quarantine.as_deref().map(inspect_objects).transpose()?;
    let Pushed { commits, large_file, stand_in } = pushed.unwrap_or_default();
    check_tips(&updates, environment)?;
    let tips = updates.iter().filter_map(|update| update.new);
    inspect_commits(environment, tips.chain(commits))?;
    if let Some(refusal) = large_file {
        return Err(refusal.into());
    }
    let push_options = environment.has_push_options.then(|| PUSH_OPTIONS.to_owned());
    Ok(push_options.into_iter().chain(stand_in.map(|(id, found)| describe_stand_in(id, found))).collect())
}

fn read_updates(stdin: impl BufRead) -> Result<Vec<Update>, PushRefusal> {
    let mut updates = Vec::new();
    let mut input = stdin.take(INPUT_BYTES_MAX);
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).map_err(|error| not_inspected(&error))? > 0 {
        updates.push(parse(&line)?);
        line.clear();
    }
    if updates.len() > UPDATES_MAX || input.limit() == 0 {
        return Err(PushRefusal::TooManyUpdates);
    }
    Ok(updates)
}

fn parse(line: &[u8]) -> Result<Update, PushRefusal> {
    let malformed = || PushRefusal::NotInspected { detail: "git gave the hook a malformed line".to_owned() };
    let Ok(line) = std::str::from_utf8(line) else {
        let detail = format!("the name of a branch is not UTF-8: {}", visible(&String::from_utf8_lossy(line)));
        return Err(PushRefusal::NotInspected { detail });
    };
    let mut words = line.trim_end_matches('\n').splitn(3, ' ');
    let (Some(old), Some(new), Some(reference)) = (words.next(), words.next(), words.next()) else {
        return Err(malformed());
    };
    let (old, new): (Oid, Oid) = (old.parse().map_err(|_| malformed())?, new.parse().map_err(|_| malformed())?);
    let is_new_branch = old.is_zero() && !new.is_zero();
    Ok(Update { is_new_branch, new: (!new.is_zero()).then_some(new), reference: reference.to_owned() })
}

fn check_reference(reference: &str, organization: &str) -> Result<(), PushRefusal> {
    let organization = organization.to_owned();
    if reference == MAIN_REF {
        return Err(PushRefusal::Main { organization });
    }
    match reference.strip_prefix(BRANCHES) {
        Some(RELEASES) => Err(PushRefusal::Releases { organization }),
        // A branch whose name other requests refuse could never be tested.
        Some(branch) => match find_name_problem(branch) {
            Some(problem) => Err(PushRefusal::BranchName { branch: branch.to_owned(), problem, organization }),
            None => Ok(()),
        },
        None => Err(PushRefusal::NotABranch { reference: reference.to_owned(), organization }),
    }
}

fn check_branches(updates: &[Update], environment: &HookEnvironment) -> Result<(), PushRefusal> {
    let new: Vec<&str> = updates.iter().filter(|update| update.is_new_branch).map(Update::branch).collect();
    if new.is_empty() {
        return Ok(());
    }
    let mut branches = read_branches(environment).map_err(|error| not_inspected(&error))?;
    let organization = || environment.organization.clone();
    if branches.len() + new.len() > BRANCHES_MAX {
        return Err(PushRefusal::TooManyBranches { branches: branches.len(), organization: organization() });
    }
    for deleted in updates.iter().filter(|update| update.new.is_none()) {
        branches.remove(&fold(deleted.branch()));
    }
    for branch in new {
        if let Some((other, why)) = find_collision(&branches, branch) {
            let (branch, other) = (branch.to_owned(), other.to_owned());
            return Err(PushRefusal::BranchCollision { branch, other, why, organization: organization() });
        }
        branches.insert(fold(branch), branch.to_owned());
    }
    Ok(())
}

/// The names of all branches, by their folded form.
fn read_branches(environment: &HookEnvironment) -> Result<HashMap<String, String>, git2::Error> {
    let git = open(environment)?;
    let mut branches = HashMap::new();
    for reference in git.references_glob("refs/heads/*")? {
        if let Ok(name) = reference?.name() {
            let branch = name.strip_prefix(BRANCHES).unwrap_or(name);
            branches.insert(fold(branch), branch.to_owned());
        }
    }
    Ok(branches)
}

/// Finds a branch that a new one cannot exist beside: git keeps branches as files, on the file systems of all clones.
fn find_collision<'a>(branches: &'a HashMap<String, String>, new: &str) -> Option<(&'a str, &'static str)> {
    let folded = fold(new);
    if let Some(other) = branches.get(&folded).filter(|other| *other != new) {
        return Some((other.as_str(), "since some file systems do not tell the names apart"));
    }
    let why = "since git keeps branches as files, and a name cannot be that of a file and of a directory";
    let above = folded.match_indices('/').find_map(|(at, _)| branches.get(&folded[..at]));
    if let Some(other) = above {
        return Some((other.as_str(), why));
    }
    let directory = format!("{folded}/");
    branches.iter().find(|(name, _)| name.starts_with(&directory)).map(|(_, other)| (other.as_str(), why))
}

/// Refuses a branch that would name something else than a commit, such as an annotated tag.
fn check_tips(updates: &[Update], environment: &HookEnvironment) -> Result<(), PushRefusal> {
    let git = open(environment).map_err(|error| not_inspected(&error))?;
    let objects = git.odb().map_err(|error| not_inspected(&error))?;
    for update in updates {
        let Some(id) = update.new else { continue };
        let (_, kind) = objects.read_header(id).map_err(|error| not_inspected(&error))?;
        if kind != ObjectType::Commit {
            return Err(PushRefusal::NotACommit { reference: update.reference.clone(), kind, id });
        }
    }
    Ok(())
}

/// Refuses new objects beyond the quota. A push without new objects, such as a deletion, is always within the quota.
fn check_quota(environment: &HookEnvironment) -> Result<(), PushRefusal> {
    let (Some(quarantine), Some(bytes_max)) = (&environment.quarantine, environment.repository_bytes_max) else {
        return Ok(());
    };
    let pushed_bytes = measure_bytes(quarantine).map_err(|error| not_inspected(&error))?;
    // The quarantine is among the repository's objects. The quarantines of concurrent pushes count, too: otherwise each
    // push would use the same free space.
    let bytes = measure_usage(&environment.repository).map_err(|error| not_inspected(&error))?.bytes;
    if bytes <= bytes_max {
        return Ok(());
    }
    let kept_bytes = bytes.saturating_sub(pushed_bytes);
    let organization = environment.organization.clone();
    Err(PushRefusal::OverQuota { kept_bytes, pushed_bytes, bytes_max, organization })
}

fn inspect_commits(environment: &HookEnvironment, commits: impl Iterator<Item = Oid>) -> Result<(), PushRefusal> {
    let repository = open(environment).map_err(|error| not_inspected(&error))?;
    let mut inspector = Inspector::new(&repository, TreeLimits::PUSHED).map_err(|error| not_inspected(&error))?;
    let objects = repository.odb().map_err(|error| not_inspected(&error))?;
    for commit in commits {
        let links = read_links(&objects, commit).map_err(|error| not_inspected(&error))?;
        let CommitLinks { tree, undated, .. } = links;
        let organization = environment.organization.clone();
        if let Some(line) = undated {
            return Err(PushRefusal::CommitDate { commit, line, organization });
        }
        inspector.inspect(tree).map_err(|refusal| PushRefusal::Tree { commit, refusal, organization })?;
    }
    Ok(())
}

/// Opens the repository with the pushed objects.
fn open(environment: &HookEnvironment) -> Result<git2::Repository, git2::Error> {
    let repository = git2::Repository::open_bare(&environment.repository)?;
    if let Some(quarantine) = &environment.quarantine {
        repository.odb()?.add_disk_alternate(require_utf8(quarantine)?)?;
    }
    Ok(repository)
}

fn not_inspected(error: &impl std::fmt::Display) -> PushRefusal {
    PushRefusal::NotInspected { detail: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "1111111111111111111111111111111111111111";
    const GONE: &str = "0000000000000000000000000000000000000000";

    fn run_in_empty_repository(input: &str) -> Result<(), PushRefusal> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        git2::Repository::init_bare(directory.path()).expect("a repository");
        let variable = |name: &str| match name {
            "GIT_DIR" => Some(directory.path().into()),
            ORGANIZATION_VARIABLE => Some("acme".into()),
            _ => None,
        };
        check_push(input.as_bytes(), &HookEnvironment::read(variable)).map(drop)
    }

    #[test]
    fn main_tags_and_refs_of_the_service_are_refused_with_the_next_step() {
        for reference in [
            "refs/heads/main",
            "refs/heads/../lathe/x",
            "refs/tags/v1",
            "refs/lathe/versions/x",
            "refs/heads/releases",
            "refs/heads/releases/",
        ] {
            for new in [OLD, GONE] {
                let refusal = run_in_empty_repository(&format!("{OLD} {new} {reference}\n")).expect_err(reference);
                assert!(refusal.to_string().contains("git push origin HEAD:releases/acme"), "{refusal}");
            }
        }
    }

    #[test]
    fn a_branch_may_be_deleted() {
        for branch in ["releases/acme", "feature", "ada/feature", "mains"] {
            run_in_empty_repository(&format!("{OLD} {GONE} refs/heads/{branch}\n")).expect("a deletion");
        }
    }

    #[test]
    fn one_refused_branch_refuses_the_push() {
        let input = format!("{OLD} {GONE} refs/heads/releases/acme\n{OLD} {GONE} refs/heads/main\n");
        assert!(matches!(run_in_empty_repository(&input), Err(PushRefusal::Main { .. })));
    }

    #[test]
    fn malformed_input_is_refused() {
        let unknown_commit = format!("{GONE} {OLD} refs/heads/releases/acme\n");
        for input in ["nonsense\n", "a b refs/heads/releases/x\n", unknown_commit.as_str()] {
            assert!(matches!(run_in_empty_repository(input), Err(PushRefusal::NotInspected { .. })), "{input}");
        }
        let flood = format!("{OLD} {GONE} refs/heads/releases/acme\n").repeat(UPDATES_MAX + 1);
        assert!(matches!(run_in_empty_repository(&flood), Err(PushRefusal::TooManyUpdates)));
        let endless_line = "x".repeat(1024 * 1024);
        assert!(run_in_empty_repository(&endless_line).is_err());
    }

    #[test]
    fn names_of_branches_are_refused_with_what_is_wrong() {
        let refused = |branch: &str, word: &str| {
            let line = format!("{OLD} {OLD} refs/heads/{branch}\n");
            let refusal = run_in_empty_repository(&line).expect_err(branch).to_string();
            assert!(refusal.contains(word) && refusal.contains("HEAD:releases/acme"), "{refusal}");
        };
        refused(&"b".repeat(201), "has 201 bytes, and 200 are the most");
        refused(&format!("releases/{}", "é".repeat(100)), "has 209 bytes");
        for branch in ["-x", "HEAD", "a.lock", "x/.hidden"] {
            refused(branch, "could not be given to a test or a publication");
        }
        let invalid = [format!("{OLD} {GONE} refs/heads/caf").as_bytes(), b"\xe9\n"].concat();
        let refusal = parse(&invalid).err().map(|refusal| refusal.to_string()).unwrap_or_default();
        assert!(refusal.contains("the name of a branch is not UTF-8"), "{refusal}");
    }

    #[test]
    fn branches_that_cannot_exist_beside_each_other_are_found() {
        let branches =
            HashMap::from(["releases/acme", "Ada/Draft", "caf\u{e9}"].map(|name| (fold(name), name.to_owned())));
        let found = |new: &str| find_collision(&branches, new).map(|(other, _)| other);
        for (new, other) in [
            ("releases/acme/x", "releases/acme"),
            ("ada/draft", "Ada/Draft"),
            ("ADA", "Ada/Draft"),
            ("ada/draft/2", "Ada/Draft"),
            ("cafe\u{301}", "caf\u{e9}"),
        ] {
            assert_eq!(found(new), Some(other), "{new}");
        }
        for new in ["releases/acme", "releases/acme2", "releases/acm", "ada/other", "cafe"] {
            assert_eq!(found(new), None, "{new}");
        }
    }

    #[test]
    fn a_repository_has_no_more_branches_than_it_may() {
        let directory = tempfile::tempdir().expect("a directory");
        let git = git2::Repository::init_bare(directory.path()).expect("a repository");
        let tree = git.find_tree(git.treebuilder(None).and_then(|tree| tree.write()).expect("a tree")).expect("a tree");
        let who = git2::Signature::new("Ada", "ada@example.org", &git2::Time::new(0, 0)).expect("a signature");
        let commit = git.commit(None, &who, &who, "work", &tree, &[]).expect("a commit");
        let lines: String =
            (0..BRANCHES_MAX).map(|number| format!("{commit} refs/heads/releases/b{number:05}\n")).collect();
        std::fs::write(directory.path().join("packed-refs"), lines).expect("branches");
        let push = |old: &str, new: &str, branch: &str| {
            let environment = HookEnvironment::read(|name| (name == "GIT_DIR").then(|| directory.path().into()));
            check_push(format!("{old} {new} refs/heads/releases/{branch}\n").as_bytes(), &environment)
        };
        let commit = commit.to_string();
        let refusal = push(GONE, &commit, "one-more").expect_err("too many");
        assert!(refusal.to_string().contains("10000 branches of at most 10000"), "{refusal}");
        push(&commit, &commit, "b00001").expect("a branch that moves");
        push(&commit, GONE, "b00001").expect("a deletion");
    }
}
