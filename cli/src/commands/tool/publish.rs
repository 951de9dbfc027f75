//! `lathe tool publish`: builds a branch and publishes the next version.

use std::path::{Path, PathBuf};

use api::wire::{BUMPS, Bump, PublishToolVersion, ReplayGate};
use clap::Args;
use registry::BranchName;

use super::checkout::Checkout;
use super::project;
use super::source::{PushedBranch, RELEASES, Wanted};
use crate::client::Client;
use crate::commands::choice::build_choice_parser;
use crate::commands::completion;
use crate::failure::{Failure, Outcome};
use crate::output::{BuildDisplay, Screen};

#[derive(Debug, Args)]
pub struct PublishArguments {
    /// The tool's name or id
    #[arg(add = completion::complete_tools())]
    tool: String,
    /// Part of the version to increase: major, minor, patch, or auto for the smallest that fits the changes; the first version
    /// is 1.0.0 in any case
    #[arg(long, value_parser = build_choice_parser(&BUMPS))]
    bump: Bump,
    /// Publish only if the last recorded runs of the current version give the same results: replay:200 for 200 runs
    #[arg(long, value_name = "replay:RUNS", value_parser = parse_gate_runs)]
    gate: Option<u32>,
    /// Maximum percentage of replayed runs whose result differs
    #[arg(long, value_name = "PERCENT", requires = "gate", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=100))]
    gate_different: u32,
    /// Maximum increase of the replayed runs' total CPU time, in percent [default: any]
    #[arg(long, value_name = "PERCENT", requires = "gate")]
    gate_slower: Option<u32>,
    /// Pushed branch to build, whatever is checked out [default: the checked-out releases/… branch, else releases/ORG]
    #[arg(long, value_parser = parse_release_branch)]
    branch: Option<BranchName>,
    /// Do not ask if the checkout differs from the pushed branch
    #[arg(long, short = 'y')]
    yes: bool,
    /// Project directory [default: tools/NAME in the repository]
    #[arg(long, value_name = "DIRECTORY")]
    path: Option<PathBuf>,
}

impl PublishArguments {
    fn gate(&self) -> Option<ReplayGate> {
        let gate = |runs_max| ReplayGate {
            runs_max,
            different_percent_max: self.gate_different,
            slower_percent_max: self.gate_slower,
        };
        self.gate.map(gate)
    }
}

/// Reads `replay:200`.
fn parse_gate_runs(text: &str) -> Result<u32, String> {
    let runs =
        text.strip_prefix("replay:").and_then(|runs| runs.parse().ok()).filter(|runs| (1..=1_000).contains(runs));
    runs.ok_or_else(|| "must be replay: and a number of runs from 1 to 1000, such as replay:200".to_owned())
}

/// A branch from which versions are published.
fn parse_release_branch(text: &str) -> Result<BranchName, String> {
    let branch = BranchName::parse(text).map_err(|error| error.to_string())?;
    if branch.as_str().starts_with(RELEASES) {
        return Ok(branch);
    }
    Err(format!(
        "versions are published from branches below {RELEASES}; `lathe tool test --branch {branch}` tests any branch"
    ))
}

pub async fn run(client: &Client, arguments: &PublishArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let tool = client.find_tool(&arguments.tool).await?;
    let project_path = match &arguments.path {
        Some(path) => project::find_project_path(Some(path))?,
        None => format!("tools/{}", tool.name).parse()?,
    };
    let near = arguments.path.as_deref().filter(|path| path.is_dir()).unwrap_or(Path::new("."));
    let mut wanted = Wanted {
        project_path: project_path.as_str(),
        checkout: Checkout::find(near),
        branch: arguments.branch.as_ref().map(BranchName::as_str),
        yes: arguments.yes,
    };
    let source = PushedBranch::find(client, &mut wanted).await?;
    source.confirm(&wanted, screen)?;
    let request = PublishToolVersion {
        project_path: project_path.clone(),
        bump_type: arguments.bump,
        commit_branch: Some(source.branch.parse()?),
        gate: arguments.gate(),
    };
    let display = BuildDisplay::start(&format!("publishing {}", tool.name));
    let answer = client.publish(&tool.id, &request, |event| display.show(event)).await;
    drop(display);
    let answer = answer.map_err(|error| explain_failure(error, &tool.name, &source))?;
    screen.answer(&answer.document, || format!("published {} {}", tool.name, answer.body.new_version))
}

/// Adds what the checkout has that the branch lacks, and the build's log.
fn explain_failure(error: anyhow::Error, tool: &str, source: &PushedBranch) -> anyhow::Error {
    let error = Failure::add_build_hints(tool, error);
    match source.render_advice() {
        Some(advice) => Failure::add_hint(error, advice),
        None => error,
    }
}
