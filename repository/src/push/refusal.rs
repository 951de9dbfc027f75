//! The reasons why the hook refuses a push, and its notes about an accepted one, with what its author does next.

use git2::{ObjectType, Oid};
use registry::{BranchName, visible};

use super::objects::ObjectRefusal;
use crate::bare::format_bytes;
use crate::trees::{Reason, StandIn, TreeRefusal};

/// Branches that one push may change: more than any team has.
pub(super) const UPDATES_MAX: usize = 1_000;
/// Branches of a repository. Each is a file and a line of every fetch, and does not count towards the quota.
pub(super) const BRANCHES_MAX: usize = 10_000;
/// Characters of the name of a ref that a refusal shows.
const NAME_CHARACTERS_SHOWN_MAX: usize = 120;

/// The reason why a push is refused. git shows its text to the client.
#[derive(Debug, thiserror::Error)]
pub enum PushRefusal {
    #[error(
        "main belongs to the service; push to releases/{organization} instead: git push origin HEAD:releases/{organization}"
    )]
    Main { organization: String },
    #[error(
        "a branch named releases would prevent all branches under releases/; push to one of those: \
        git push origin HEAD:releases/{organization}"
    )]
    Releases { organization: String },
    #[error(
        "{} is not a branch, and {}; push to a branch, for example: git push origin HEAD:releases/{organization}",
        show(.reference), explain_ref(.reference)
    )]
    NotABranch { reference: String, organization: String },
    #[error(
        "the name of the branch {} {problem}; push to a branch with another name, for example: git push origin \
        HEAD:releases/{organization}",
        show(.branch)
    )]
    BranchName { branch: String, problem: String, organization: String },
    #[error(
        "the branch {} cannot exist beside the branch {}, {why}; push to another name, for example: git push origin \
        HEAD:releases/{organization}, or delete the other branch first: git push origin --delete {}",
        show(.branch), show(.other), show(.other)
    )]
    BranchCollision { branch: String, other: String, why: &'static str, organization: String },
    #[error(
        "{} would name the {kind} {id}, and a branch names a commit; {}",
        show(.reference), explain_tip(*.kind, .reference)
    )]
    NotACommit { reference: String, kind: ObjectType, id: Oid },
    #[error("commit {commit}: {refusal}. {}", find_way_on(*.commit, .refusal, .organization))]
    Tree { commit: Oid, refusal: TreeRefusal, organization: String },
    #[error(
        "commit {commit}: its line `{}` has no date, so that git cannot order it. {}",
        show(.line), advise_without_history(.organization)
    )]
    CommitDate { commit: Oid, line: String, organization: String },
    #[error(transparent)]
    Objects(#[from] ObjectRefusal),
    #[error(
        "this push is refused: the repository uses {} of its quota of {}, and the push adds {}. Branches and published \
        versions keep their commits. Delete a branch that is no longer needed, or delete this branch and push it again \
        without its large files: git push origin --delete releases/{organization}. If that is not enough, ask the \
        operator of this service for a larger quota (--repository-megabytes)",
        format_bytes(*.kept_bytes), format_bytes(*.bytes_max), format_bytes(*.pushed_bytes)
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

/// The note about push options, such as those of another service's CI.
pub(super) const PUSH_OPTIONS: &str =
    "push options have no effect here; versions are published with `lathe tool publish`";

/// The note about a pushed file that only stands for its content.
pub(super) fn describe_stand_in(id: Oid, found: StandIn) -> String {
    let (tool, how) = match found {
        StandIn::Lfs { .. } => (
            "a pointer of Git LFS",
            "`git lfs ls-files` lists them, and `git lfs migrate export --everything --include='*'` commits the files",
        ),
        StandIn::Annex => {
            ("a pointer of git-annex", "`git annex find` lists them, and `git annex unannex` gives the files back")
        }
        StandIn::Crypt => ("encrypted by git-crypt", "`git-crypt status -e` lists them"),
    };
    format!("the pushed file {id} is {tool}: its content is not here, and no tool is built with such a file; {how}")
}

/// What is wrong with the name of a branch.
pub(super) fn find_name_problem(branch: &str) -> Option<String> {
    let bytes_max = BranchName::BYTES_MAX;
    if branch.len() > bytes_max {
        return Some(format!("has {} bytes, and {bytes_max} are the most", branch.len()));
    }
    let problem = "could not be given to a test or a publication, which take names without spaces and the characters ~^:?*[\\, whose \
        parts neither begin with a dot nor end with .lock, and which do not begin with a dash";
    BranchName::parse(branch).is_err().then(|| problem.to_owned())
}

/// How the author gets rid of the history, the last resort of all refusals of old commits.
pub(crate) fn advise_without_history(organization: &str) -> String {
    format!(
        "To push the present files without their history: git checkout --orphan fresh && git commit -m import && git push origin \
        HEAD:releases/{organization}"
    )
}

/// A name of the client in a message, escaped for terminals, and cut.
fn show(name: &str) -> String {
    let name = visible(name);
    match name.char_indices().nth(NAME_CHARACTERS_SHOWN_MAX) {
        Some((cut, _)) => format!("{}…", &name[..cut]),
        None => name,
    }
}

fn explain_ref(reference: &str) -> &'static str {
    if reference.starts_with("refs/tags/") {
        "tags are not kept here: each published version keeps its commit. Leave out --tags, --follow-tags and --mirror"
    } else {
        "only branches are kept here"
    }
}

fn explain_tip(kind: ObjectType, reference: &str) -> String {
    let branch = show(reference.strip_prefix("refs/heads/").unwrap_or(reference));
    match kind {
        ObjectType::Tag => format!("push the commit of the tag: git push origin 'TAG^{{commit}}:refs/heads/{branch}'"),
        _ => format!("push a commit: git push origin HEAD:refs/heads/{branch}"),
    }
}

fn find_way_on(commit: Oid, refusal: &TreeRefusal, organization: &str) -> String {
    let first = match refusal.reason {
        Reason::Submodule => {
            "If it is a clone inside of this one, remove its .git directory; then run `git rm --cached` and `git add` for it. "
        }
        _ => "",
    };
    format!(
        "{first}A later commit that mends it is not enough: change this one with `git rebase -i {commit}^` (`--root` for the first). {}",
        advise_without_history(organization)
    )
}
