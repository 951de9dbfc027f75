//! Tests of a pushed branch on the server.

use api::wire::TestTool;

use super::arguments::TestArguments;
use crate::client::Client;
use crate::commands::input;
use crate::commands::tool::project;
use crate::failure::Outcome;
use crate::output::{RunDisplay, Screen, is_all_succeeded, show_results};

pub async fn run(client: &Client, arguments: &TestArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let request = TestTool {
        inputs: arguments.input.read()?,
        commit_branch: arguments.branch.clone().map_or_else(project::current_branch, Ok)?,
        project_path: project::project_path(arguments.path.as_deref())?,
        required_envvars: input::variables(&arguments.envvars)?,
        required_secret_envvars: input::variables(&arguments.secrets)?,
        gate: None,
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
