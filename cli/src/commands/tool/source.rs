//! The commit that a publish or a test takes: the tip of a branch on the server, compared with the checkout on this machine.

use std::io::IsTerminal;

use crate::client::Client;
use crate::commands::prompt;
use crate::commands::tool::checkout::{Checkout, abbreviate, join_names};
use crate::failure::{Failure, Outcome};
use crate::output::{Screen, escape_hidden};

/// The beginning of the branches from which versions are published.
pub const RELEASES: &str = "releases/";

/// The project to build, and who has decided about it.
pub struct Wanted<'a> {
    pub project_path: &'a str,
    pub checkout: Option<Checkout>,
    /// The branch that the user named. It is taken as it is on the server.
    pub branch: Option<&'a str>,
    /// Whether the user agreed beforehand.
    pub yes: bool,
}

/// A pushed branch, and what the checkout has that it lacks.
pub struct PushedBranch {
    pub branch: String,
    /// `None` for users who may not read the repository.
    tip: Option<String>,
    subject: Option<String>,
    differences: Vec<String>,
}

impl PushedBranch {
    /// Looks up the branch on the server. A checkout counts if it has the organisation's repository as a remote; or the project, and no
    /// repository of another organisation.
    pub async fn find(client: &Client, wanted: &mut Wanted<'_>) -> anyhow::Result<Self> {
        let address = client.credentials().build_git_url()?;
        let has_project =
            |checkout: &Checkout| checkout.has_directory(wanted.project_path) && !checkout.is_of_others(&address);
        let concerns = |checkout: &Checkout| has_project(checkout) || checkout.find_remote(&address).is_some();
        wanted.checkout = wanted.checkout.take().filter(concerns);
        let outside = (wanted.checkout.is_none() && wanted.branch.is_none()).then(|| explain_outside(client, &address));
        let branch = choose_branch(wanted, &client.credentials().organization);
        let push = push_command(address, wanted.checkout.as_ref(), &branch);
        let tip = match client.find_branch_tip(&branch).await {
            Ok(Some(tip)) => tip,
            Ok(None) => return Err(refuse_unpushed(&branch, &push)),
            Err(error) if is_forbidden(&error) => {
                return Ok(Self { branch, tip: None, subject: None, differences: outside.into_iter().collect() });
            }
            Err(error) => return Err(error),
        };
        let subject = wanted.checkout.as_ref().and_then(|checkout| checkout.find_subject(&tip));
        let checkout = wanted.checkout.as_ref();
        let differences = checkout
            .map(|checkout| find_differences(checkout, wanted, &Pushed { branch: &branch, tip: &tip, push: &push }));
        let differences = outside.into_iter().chain(differences.unwrap_or_default()).collect();
        Ok(Self { branch, tip: Some(tip), subject, differences })
    }

    /// Says what is taken, and what the checkout has besides.
    pub fn announce(&self, doing: &str, project_path: &str, screen: Screen) {
        screen.note(format!("{doing} {project_path} from {}", self.describe()));
        self.differences.iter().for_each(|line| screen.note(format!("  {}", escape_hidden(line))));
    }

    /// Says what is published. Asks, or refuses without a terminal, if it differs from what is checked out, unless the user
    /// has decided.
    pub fn confirm(&self, wanted: &Wanted<'_>, screen: Screen) -> anyhow::Result<Outcome> {
        let what = self.describe();
        let is_decided = wanted.yes || wanted.branch.is_some() || self.differences.is_empty();
        if !is_decided && !std::io::stdin().is_terminal() {
            return Err(self.refuse(&what, wanted));
        }
        self.announce("publishing", wanted.project_path, screen);
        if is_decided || prompt::confirm(&format!("Publish {what} as it is?"), "add --yes")? {
            return Ok(Outcome::Done);
        }
        Err(Failure::coded(
            "not_confirmed",
            "nothing was published",
            "to publish the branch as it is, answer y or add --yes",
        ))
    }

    /// The differences between the checkout and the branch, as a hint after a refusal.
    pub fn render_advice(&self) -> Option<String> {
        (!self.differences.is_empty()).then(|| self.differences.join("; "))
    }

    fn describe(&self) -> String {
        let subject = self.subject.as_ref().map(|subject| format!(" ({})", escape_hidden(subject)));
        match &self.tip {
            Some(tip) => format!("{}, commit {}{}", self.branch, abbreviate(tip), subject.unwrap_or_default()),
            None => self.branch.clone(),
        }
    }

    fn refuse(&self, what: &str, wanted: &Wanted<'_>) -> anyhow::Error {
        if wanted.checkout.is_none() {
            let message = format!("publishing {} from {what}: {}", wanted.project_path, self.differences.join("; "));
            let hint =
                format!("run it in the clone; or add --branch {} or --yes if this is what you mean", self.branch);
            return Failure::coded("checkout_missing", message, hint);
        }
        let message = format!("what is checked out differs from {what}: {}", self.differences.join("; "));
        Failure::coded("checkout_differs", message, "do this first; or add --yes to publish the branch as it is")
    }
}

/// Says that no checkout shows which project is meant, and whose repository it is taken from.
fn explain_outside(client: &Client, address: &str) -> String {
    let (organization, url) = (&client.credentials().organization, &client.credentials().url);
    format!("this directory is in no clone of the tools of {organization} on {url}: `git clone {address}`")
}

/// The named branch, else the checked-out one if versions are published from it, else the organisation's.
fn choose_branch(wanted: &Wanted<'_>, organization: &str) -> String {
    let checked_out = wanted.checkout.as_ref().and_then(|checkout| checkout.branch.as_deref());
    let checked_out = checked_out.filter(|branch| branch.starts_with(RELEASES));
    wanted.branch.or(checked_out).map_or_else(|| format!("{RELEASES}{organization}"), str::to_owned)
}

/// The command that pushes the checkout to a branch.
fn push_command(address: String, checkout: Option<&Checkout>, branch: &str) -> String {
    let remote = checkout.and_then(|checkout| checkout.find_remote(&address)).unwrap_or(address);
    let is_checked_out = checkout.is_some_and(|checkout| checkout.branch.as_deref() == Some(branch));
    let from = if is_checked_out { String::new() } else { "HEAD:".to_owned() };
    format!("`git push {remote} {from}{branch}`")
}

fn refuse_unpushed(branch: &str, push: &str) -> anyhow::Error {
    Failure::coded("unknown_branch", format!("the server has no branch `{branch}`"), format!("push it: {push}"))
}

fn is_forbidden(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<Failure>(), Some(Failure::Server { status: 403, .. }))
}

/// A branch on the server, and the command that pushes the checkout to it.
struct Pushed<'a> {
    branch: &'a str,
    tip: &'a str,
    push: &'a str,
}

/// The differences between the checkout and the branch, each with the command that removes it.
fn find_differences(checkout: &Checkout, wanted: &Wanted<'_>, pushed: &Pushed<'_>) -> Vec<String> {
    let Pushed { branch, tip, push } = *pushed;
    if let Some(other) = checkout.branch.as_deref().filter(|other| wanted.branch.is_some() && *other != branch) {
        // The user named a branch that is not checked out, so the commits here need not be pushed to it.
        let differs = checkout.head != tip;
        return differs.then(|| format!("`{other}` is checked out, not {branch}")).into_iter().collect();
    }
    let mut lines = Vec::new();
    let counts = if checkout.head == tip { Some((0, 0)) } else { checkout.count_ahead_and_behind(tip) };
    match counts {
        Some((ahead, behind)) => {
            lines.extend(
                describe_count(ahead, "commit", " here").map(|commits| format!("{commits} not pushed: {push}")),
            );
            let of_branch = format!(" of {branch}");
            lines.extend(
                describe_count(behind, "commit", &of_branch).map(|commits| format!("{commits} not here: `git pull`")),
            );
        }
        None => lines.push(format!("{branch} has commits that this clone does not have: `git fetch`, then compare")),
    }
    if !lines.is_empty() {
        lines.extend(explain_other_branch(checkout, branch));
    }
    lines.extend(explain_missing(checkout, wanted.project_path));
    let files = checkout.list_changed_files(wanted.project_path);
    lines.extend(describe_count(files.len() as u64, "file", "").map(|count| {
        let (files, path) = (join_names(&files), wanted.project_path);
        format!("{count} not committed ({files}): `git add {path} && git commit`, then {push}")
    }));
    lines
}

/// Says that the checkout does not have the project, and which ones it has.
fn explain_missing(checkout: &Checkout, project_path: &str) -> Option<String> {
    if checkout.has_directory(project_path) {
        return None;
    }
    let projects = checkout.find_projects();
    let name = |project: &String| format!("--path {project}");
    let others = if projects.is_empty() {
        String::new()
    } else {
        format!(": {}", join_names(&projects.iter().map(name).collect::<Vec<_>>()))
    };
    Some(format!("`{project_path}` is not in this checkout; name another project with --path{others}"))
}

/// Says that another branch than the published one is checked out.
fn explain_other_branch(checkout: &Checkout, branch: &str) -> Option<String> {
    match &checkout.branch {
        Some(checked_out) if checked_out == branch => None,
        Some(checked_out) => Some(format!("`{checked_out}` is checked out; versions are published from {RELEASES}…")),
        None => Some("no branch is checked out".to_owned()),
    }
}

/// `1 commit here is`, `2 commits here are`.
fn describe_count(count: u64, what: &str, place: &str) -> Option<String> {
    let (plural, verb) = if count == 1 { ("", "is") } else { ("s", "are") };
    (count > 0).then(|| format!("{count} {what}{plural}{place} {verb}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_is_the_named_the_checked_out_or_the_organisations() {
        let branch = |named: Option<&str>, checked_out: Option<&str>| {
            let checkout = Checkout::for_tests(checked_out);
            choose_branch(
                &Wanted { project_path: "tools/a", checkout: Some(checkout), branch: named, yes: false },
                "acme",
            )
        };
        assert_eq!(branch(None, Some("releases/eu")), "releases/eu");
        assert_eq!(branch(Some("releases/us"), Some("releases/eu")), "releases/us");
        assert_eq!(branch(None, Some("work")), "releases/acme");
        assert_eq!(branch(None, None), "releases/acme");
    }
}
