//! `lathe tool test`

use std::path::PathBuf;

use clap::Args;

use super::project;
use crate::client::{Client, TestRequest};
use crate::commands::input::{self, InputArguments};
use crate::failure::Outcome;
use crate::output::{RunDisplay, Screen, is_all_succeeded, show_results};

#[derive(Debug, Args)]
pub struct TestArguments {
    /// The project's directory [default: the current one]
    path: Option<PathBuf>,
    /// The pushed branch to build [default: the branch that is checked out here]
    #[arg(long)]
    branch: Option<String>,
    #[command(flatten)]
    input: InputArguments,
    /// A variable for this run only
    #[arg(long = "envvar", value_name = "NAME[=VALUE]")]
    envvars: Vec<String>,
    /// A secret for this run only; without =VALUE it is read from the environment, with =- from stdin
    #[arg(long = "secret", value_name = "NAME[=VALUE]")]
    secrets: Vec<String>,
}

pub async fn run(client: &Client, arguments: &TestArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let request = TestRequest {
        inputs: arguments.input.read()?,
        commit_branch: arguments.branch.clone().map_or_else(project::current_branch, Ok)?,
        project_path: project::project_path(arguments.path.as_deref())?,
        required_envvars: input::pairs(&arguments.envvars)?,
        required_secret_envvars: input::pairs(&arguments.secrets)?,
    };
    let display = RunDisplay::start(&format!("testing {} of {}", request.project_path, request.commit_branch));
    let answer = client.test_branch(&request, |event| display.show(event)).await?;
    drop(display);
    if screen.is_json() {
        screen.document(&answer.document)?;
    } else {
        show_results(screen, &answer.body.invocation_results)?;
    }
    Ok(if is_all_succeeded(&answer.body.invocation_results) { Outcome::Done } else { Outcome::Failed })
}
