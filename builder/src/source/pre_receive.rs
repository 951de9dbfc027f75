//! The `pre-receive` hook, which accepts or refuses a push before any branch moves.
//!
//! git starts the hook once for each push, with one line `<old> <new> <ref>` for each branch. The pushed objects are in a
//! quarantine directory beside the repository's own objects. A refusal concerns the whole push; git then deletes the
//! quarantine.

use std::ffi::OsString;
use std::io::BufRead;
use std::path::PathBuf;

use git2::Oid;
use registry::{BranchName, visible};

use super::quarantine::{Inspector, ObjectRefusal, Pushed, TreeLimits, inspect_objects, utf8};
use super::tree_rules::TreeRefusal;
use super::usage::{bytes_below, usage, with_unit};

/// The variable with the organisation, for the hook's messages.
pub const ORGANIZATION_VARIABLE: &str = "LATHE_ORGANIZATION";
/// The variable with the repository's quota in bytes.
pub const REPOSITORY_BYTES_VARIABLE: &str = "LATHE_REPOSITORY_BYTES_MAX";
/// The branch with the scaffold.
pub(super) const MAIN_REF: &str = "refs/heads/main";
const BRANCHES: &str = "refs/heads/";
/// The directory of the branches that versions are published from. A branch of this name would prevent them all.
const RELEASES: &str = "releases";

/// Branches that one push may change: more than any team has.
const UPDATES_MAX: usize = 1_000;
/// Branches of a repository. Each is a file and a line of every fetch, and does not count towards the quota.
const BRANCHES_MAX: usize = 10_000;
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
}

/// The reason why a push is refused. git shows its text to the client.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error(
        "main belongs to the service; push to releases/{organization} instead: git push origin HEAD:releases/{organization}"
    )]
    Main { organization: String },
    #[error(
        "a branch named releases would prevent all branches under releases/; push to one of those: \
        git push origin HEAD:releases/{organization}"
    )]
    Releases { organization: String },
    #[error("{reference} is not a branch; push to a branch, for example: git push origin HEAD:releases/{organization}")]
    NotABranch { reference: String, organization: String },
    #[error("commit {commit}: {refusal}")]
    Tree { commit: Oid, refusal: TreeRefusal },
    #[error(transparent)]
    Objects(#[from] ObjectRefusal),
    #[error(
        "this push is refused: the repository uses {} of its quota of {}, and the push adds {}. Branches and published \
        versions keep their commits. Delete a branch that is no longer needed, or delete this branch and push it again \
        without its large files: git push origin --delete releases/{organization}. If that is not enough, ask the \
        operator of this service for a larger quota (--repository-megabytes)",
        with_unit(*.kept_bytes), with_unit(*.bytes_max), with_unit(*.pushed_bytes)
    )]
    OverQuota { kept_bytes: u64, pushed_bytes: u64, bytes_max: u64, organization: String },
    #[error(
        "this repository has {branches} branches of at most {BRANCHES_MAX}; delete those that are no longer needed: \
        git push origin --delete releases/{organization}"
    )]
    TooManyBranches { branches: usize, organization: String },
    #[error("one push may change at most {UPDATES_MAX} branches; push fewer at a time")]
    TooManyUpdates,
    #[error(
        "the push is refused, since it could not be inspected: {detail}; try again, or ask the operator of this service"
    )]
    NotInspected { detail: String },
}

struct Update {
    is_new_branch: bool,
    /// `None` for a deletion.
    new: Option<Oid>,
    reference: String,
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
        }
    }
}

/// Checks one push.
///
/// Branches may be created, moved, forced and deleted, except `main`; other refs may not. Every pushed object and tree must be
/// within [`TreeLimits::PUSHED`] and the rules for names.
///
/// # Errors
/// The first violated rule.
pub fn run(stdin: impl BufRead, environment: &HookEnvironment) -> Result<(), Refusal> {
    let updates = read_updates(stdin)?;
    for update in &updates {
        check_reference(&update.reference, &environment.organization)?;
    }
    check_branches(&updates, environment)?;
    check_quota(environment)?;
    let pushed = environment.quarantine.as_deref().map(inspect_objects).transpose()?;
    let Pushed { commits, large_file } = pushed.unwrap_or_default();
    let tips = updates.iter().filter_map(|update| update.new);
    inspect_commits(environment, tips.chain(commits))?;
    large_file.map_or(Ok(()), |refusal| Err(refusal.into()))
}

fn read_updates(stdin: impl BufRead) -> Result<Vec<Update>, Refusal> {
    let mut updates = Vec::new();
    let mut input = stdin.take(INPUT_BYTES_MAX);
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).map_err(|error| not_inspected(&error))? > 0 {
        updates.push(parse(&line)?);
        line.clear();
    }
    if updates.len() > UPDATES_MAX || input.limit() == 0 {
        return Err(Refusal::TooManyUpdates);
    }
    Ok(updates)
}

fn parse(line: &[u8]) -> Result<Update, Refusal> {
    let malformed = || Refusal::NotInspected { detail: "git gave the hook a malformed line".to_owned() };
    let line = String::from_utf8_lossy(line);
    let mut words = line.trim_end_matches('\n').splitn(3, ' ');
    let (Some(old), Some(new), Some(reference)) = (words.next(), words.next(), words.next()) else {
        return Err(malformed());
    };
    let (old, new): (Oid, Oid) = (old.parse().map_err(|_| malformed())?, new.parse().map_err(|_| malformed())?);
    let is_new_branch = old.is_zero() && !new.is_zero();
    Ok(Update { is_new_branch, new: (!new.is_zero()).then_some(new), reference: reference.to_owned() })
}

fn check_reference(reference: &str, organization: &str) -> Result<(), Refusal> {
    let organization = organization.to_owned();
    if reference == MAIN_REF {
        return Err(Refusal::Main { organization });
    }
    match reference.strip_prefix(BRANCHES) {
        Some(RELEASES) => Err(Refusal::Releases { organization }),
        // A branch whose name other requests refuse could never be tested.
        Some(branch) if BranchName::parse(branch).is_ok() => Ok(()),
        _ => {
            let reference = visible(reference);
            Err(Refusal::NotABranch { reference, organization })
        }
    }
}

fn check_branches(updates: &[Update], environment: &HookEnvironment) -> Result<(), Refusal> {
    let new = updates.iter().filter(|update| update.is_new_branch).count();
    if new == 0 {
        return Ok(());
    }
    let counted = open(environment).and_then(|git| Ok(git.references_glob("refs/heads/*")?.names().count()));
    let branches = counted.map_err(|error| not_inspected(&error))?;
    if branches + new <= BRANCHES_MAX {
        return Ok(());
    }
    Err(Refusal::TooManyBranches { branches, organization: environment.organization.clone() })
}

/// Refuses new objects beyond the quota. A push without new objects, such as a deletion, is always within the quota.
fn check_quota(environment: &HookEnvironment) -> Result<(), Refusal> {
    let (Some(quarantine), Some(bytes_max)) = (&environment.quarantine, environment.repository_bytes_max) else {
        return Ok(());
    };
    let pushed_bytes = bytes_below(quarantine).map_err(|error| not_inspected(&error))?;
    // The quarantine is among the repository's objects. The quarantines of concurrent pushes count, too: otherwise each
    // push would use the same free space.
    let bytes = usage(&environment.repository).map_err(|error| not_inspected(&error))?.bytes;
    if bytes <= bytes_max {
        return Ok(());
    }
    let kept_bytes = bytes.saturating_sub(pushed_bytes);
    let organization = environment.organization.clone();
    Err(Refusal::OverQuota { kept_bytes, pushed_bytes, bytes_max, organization })
}

fn inspect_commits(environment: &HookEnvironment, commits: impl Iterator<Item = Oid>) -> Result<(), Refusal> {
    let repository = open(environment).map_err(|error| not_inspected(&error))?;
    let mut inspector = Inspector::new(&repository, TreeLimits::PUSHED).map_err(|error| not_inspected(&error))?;
    for commit in commits {
        let tree = repository.find_commit(commit).map_err(|error| not_inspected(&error))?.tree_id();
        inspector.inspect(tree).map_err(|refusal| Refusal::Tree { commit, refusal })?;
    }
    Ok(())
}

/// Opens the repository with the pushed objects.
fn open(environment: &HookEnvironment) -> Result<git2::Repository, git2::Error> {
    let repository = git2::Repository::open_bare(&environment.repository)?;
    if let Some(quarantine) = &environment.quarantine {
        repository.odb()?.add_disk_alternate(utf8(quarantine)?)?;
    }
    Ok(repository)
}

fn not_inspected(error: &impl std::fmt::Display) -> Refusal {
    Refusal::NotInspected { detail: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "1111111111111111111111111111111111111111";
    const GONE: &str = "0000000000000000000000000000000000000000";

    fn run_in_empty_repository(input: &str) -> Result<(), Refusal> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        git2::Repository::init_bare(directory.path()).expect("a repository");
        let variable = |name: &str| match name {
            "GIT_DIR" => Some(directory.path().into()),
            ORGANIZATION_VARIABLE => Some("acme".into()),
            _ => None,
        };
        run(input.as_bytes(), &HookEnvironment::read(variable))
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
        assert!(matches!(run_in_empty_repository(&input), Err(Refusal::Main { .. })));
    }

    #[test]
    fn malformed_input_is_refused() {
        let unknown_commit = format!("{GONE} {OLD} refs/heads/releases/acme\n");
        for input in ["nonsense\n", "a b refs/heads/releases/x\n", unknown_commit.as_str()] {
            assert!(matches!(run_in_empty_repository(input), Err(Refusal::NotInspected { .. })), "{input}");
        }
        let flood = format!("{OLD} {GONE} refs/heads/releases/acme\n").repeat(UPDATES_MAX + 1);
        assert!(matches!(run_in_empty_repository(&flood), Err(Refusal::TooManyUpdates)));
        let endless_line = "x".repeat(1024 * 1024);
        assert!(run_in_empty_repository(&endless_line).is_err());
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
            run(format!("{old} {new} refs/heads/releases/{branch}\n").as_bytes(), &environment)
        };
        let commit = commit.to_string();
        let refusal = push(GONE, &commit, "one-more").expect_err("too many");
        assert!(refusal.to_string().contains("10000 branches of at most 10000"), "{refusal}");
        push(&commit, &commit, "b00001").expect("a branch that moves");
        push(&commit, GONE, "b00001").expect("a deletion");
    }
}
