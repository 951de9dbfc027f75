//! The decision on a push, made by the `pre-receive` hook before any branch moves.
//!
//! git starts the hook once per push with one line `<old> <new> <ref>` per branch, while the pushed objects lie in a
//! quarantine directory beside the repository's own. A refusal refuses the whole push; git then deletes the quarantine.

use std::ffi::OsString;
use std::io::BufRead;
use std::path::PathBuf;

use git2::Oid;
use registry::BranchName;

use super::quarantine::{Inspector, ObjectRefusal, Pushed, TreeLimits, inspect_objects, utf8};
use super::tree_rules::TreeRefusal;

/// The variable that names the organisation to the hook, for its messages.
pub const ORGANIZATION_VARIABLE: &str = "LATHE_ORGANIZATION";
/// The branch that holds the scaffold.
pub(super) const MAIN_REF: &str = "refs/heads/main";
const BRANCHES: &str = "refs/heads/";
const RELEASES: &str = "releases/";

/// Branches of one push: more than any team has.
const UPDATES_MAX: usize = 1_000;
/// All lines of one push: that many of the longest.
const INPUT_BYTES_MAX: u64 = UPDATES_MAX as u64 * 512;

/// What git tells a hook through its environment.
#[derive(Debug, Clone)]
pub struct HookEnvironment {
    /// `GIT_DIR`.
    pub repository: PathBuf,
    /// `GIT_QUARANTINE_PATH`; absent when the push brings no objects.
    pub quarantine: Option<PathBuf>,
    /// The team's name as it is suggested in messages.
    pub organization: String,
}

/// Why a push is refused; its text is what the pusher reads.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error(
        "main is kept by the service; push to releases/{organization} instead: git push origin HEAD:releases/{organization}"
    )]
    Main { organization: String },
    #[error("{reference} is not a branch under releases/; push to one: git push origin HEAD:releases/{organization}")]
    NotARelease { reference: String, organization: String },
    #[error("commit {commit}: {refusal}")]
    Tree { commit: Oid, refusal: TreeRefusal },
    #[error(transparent)]
    Objects(#[from] ObjectRefusal),
    #[error("one push may change at most {UPDATES_MAX} branches")]
    TooManyUpdates,
    #[error(
        "the push could not be inspected ({detail}) and is refused; try again, or ask the operator of this service"
    )]
    NotInspected { detail: String },
}

struct Update {
    /// Nothing when the branch is deleted.
    new: Option<Oid>,
    reference: String,
}

impl HookEnvironment {
    /// Reads the variables through `variable`, usually `std::env::var_os`.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let organization = variable(ORGANIZATION_VARIABLE).and_then(|name| name.into_string().ok());
        Self {
            repository: variable("GIT_DIR").map_or_else(|| PathBuf::from("."), PathBuf::from),
            quarantine: variable("GIT_QUARANTINE_PATH").map(PathBuf::from),
            organization: organization.unwrap_or_else(|| "<team>".to_owned()),
        }
    }
}

/// Decides on one push.
///
/// Branches under `releases/` may be made, moved, forced and deleted; everything else is refused, and so is any
/// pushed object or tree that [`TreeLimits::PUSHED`] and the rules for names do not allow.
pub fn run(stdin: impl BufRead, environment: &HookEnvironment) -> Result<(), Refusal> {
    let updates = read_updates(stdin)?;
    for update in &updates {
        check_reference(&update.reference, &environment.organization)?;
    }
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
    let malformed = || Refusal::NotInspected { detail: "git gave the hook a line that it cannot read".to_owned() };
    let line = String::from_utf8_lossy(line);
    let mut words = line.trim_end_matches('\n').splitn(3, ' ');
    let (Some(_old), Some(new), Some(reference)) = (words.next(), words.next(), words.next()) else {
        return Err(malformed());
    };
    let new: Oid = new.parse().map_err(|_| malformed())?;
    Ok(Update { new: (!new.is_zero()).then_some(new), reference: reference.to_owned() })
}

fn check_reference(reference: &str, organization: &str) -> Result<(), Refusal> {
    let organization = organization.to_owned();
    if reference == MAIN_REF {
        return Err(Refusal::Main { organization });
    }
    let branch = reference.strip_prefix(BRANCHES).filter(|branch| branch.starts_with(RELEASES));
    // A branch whose name the service does not accept elsewhere could never be published.
    if branch.is_some_and(|branch| BranchName::parse(branch).is_ok()) {
        return Ok(());
    }
    let reference = reference.chars().filter(|character| !character.is_control()).collect();
    Err(Refusal::NotARelease { reference, organization })
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

/// Opens the repository together with the pushed objects.
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
    fn main_tags_and_other_branches_are_refused_with_what_to_do() {
        for reference in [
            "refs/heads/main",
            "refs/heads/feature",
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
    fn a_release_may_be_deleted() {
        run_in_empty_repository(&format!("{OLD} {GONE} refs/heads/releases/acme\n")).expect("a deletion");
    }

    #[test]
    fn one_refused_branch_refuses_the_push() {
        let input = format!("{OLD} {GONE} refs/heads/releases/acme\n{OLD} {GONE} refs/heads/main\n");
        assert!(matches!(run_in_empty_repository(&input), Err(Refusal::Main { .. })));
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let unknown_commit = format!("{GONE} {OLD} refs/heads/releases/acme\n");
        for input in ["nonsense\n", "a b refs/heads/releases/x\n", unknown_commit.as_str()] {
            assert!(matches!(run_in_empty_repository(input), Err(Refusal::NotInspected { .. })), "{input}");
        }
        let flood = format!("{OLD} {GONE} refs/heads/releases/acme\n").repeat(UPDATES_MAX + 1);
        assert!(matches!(run_in_empty_repository(&flood), Err(Refusal::TooManyUpdates)));
        let endless_line = "x".repeat(1024 * 1024);
        assert!(run_in_empty_repository(&endless_line).is_err());
    }
}
