//! Tests of a pushed branch on the server.

use std::path::Path;

use api::wire::TestTool;
use serde_json::json;

use super::arguments::TestArguments;
use crate::client::Client;
use crate::commands::tool::checkout::Checkout;
use crate::commands::tool::project;
use crate::commands::tool::source::{PushedBranch, Wanted};
use crate::failure::{Failure, Outcome};
use crate::output::{RunDisplay, Screen, is_all_succeeded, show_results};

pub async fn run(client: &Client, arguments: &TestArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let (required_envvars, required_secret_envvars) = arguments.read_variables()?;
    let request = TestTool {
        inputs: arguments.input.read()?,
        commit_branch: arguments.branch.clone().map_or_else(project::find_current_branch, Ok)?,
        project_path: project::find_project_path(arguments.path.as_deref())?,
        required_envvars,
        required_secret_envvars,
        gate: None,
    };
    let mut wanted = Wanted {
        project_path: request.project_path.as_str(),
        checkout: Checkout::find(arguments.path.as_deref().filter(|path| path.is_dir()).unwrap_or(Path::new("."))),
        branch: Some(request.commit_branch.as_str()),
        yes: false,
    };
    PushedBranch::find(client, &mut wanted).await?.announce("testing", wanted.project_path, screen);
    let display = RunDisplay::start("building");
    let answer = client.test_branch(&request, |event| display.show(event)).await;
    drop(display);
    let answer = match answer {
        Err(error) if !arguments.input.is_given() && is_refused_input(&error) => return report_passed(screen),
        answer => answer?,
    };
    if screen.is_json() {
        screen.print_document(&answer.document)?;
    } else {
        show_results(screen, &answer.body.invocation_results)?;
    }
    let is_passed = is_all_succeeded(&answer.body.invocation_results);
    if !is_passed && !arguments.input.is_given() {
        screen.note(format!(
            "the build and its checks passed; the run had the input {{}}, since none was given: {ADD_INPUT}"
        ));
        return Ok(Outcome::Done);
    }
    Ok(if is_passed { Outcome::Done } else { Outcome::Failed })
}

/// The next step of a test without inputs.
const ADD_INPUT: &str = "add --input '{\"name\": \"value\"}' to run one";

/// Whether the tool refused an input. The server validates inputs after the build and its checks.
fn is_refused_input(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Failure>().is_some_and(|failure| failure.code() == "input_schema")
}

/// The answer of a test whose only input stood for none, and which the tool does not accept.
fn report_passed(screen: Screen) -> anyhow::Result<Outcome> {
    let text = || format!("the build and its checks passed; no input ran, since none was given: {ADD_INPUT}");
    screen.answer(&json!({ "invocation_results": [] }), text)
}
