//! Tests of a pushed branch on the server.

use std::path::Path;

use api::wire::TestTool;

use super::arguments::TestArguments;
use crate::client::Client;
use crate::commands::input::{self, InputArguments};
use crate::commands::tool::checkout::Checkout;
use crate::commands::tool::project;
use crate::commands::tool::source::{Source, Wanted};
use crate::failure::{Failure, Outcome};
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
    let mut wanted = Wanted {
        project_path: request.project_path.as_str(),
        checkout: Checkout::find(arguments.path.as_deref().filter(|path| path.is_dir()).unwrap_or(Path::new("."))),
        branch: Some(request.commit_branch.as_str()),
        yes: false,
    };
    Source::find(client, &mut wanted).await?.announce("testing", wanted.project_path, screen);
    let display = RunDisplay::start("building");
    let answer = client.test_branch(&request, |event| display.show(event)).await;
    drop(display);
    let answer = answer.map_err(|error| explained(error, &arguments.input))?;
    if screen.is_json() {
        screen.document(&answer.document)?;
    } else {
        show_results(screen, &answer.body.invocation_results)?;
    }
    Ok(if is_all_succeeded(&answer.body.invocation_results) { Outcome::Done } else { Outcome::Failed })
}

/// Says that the tool refused the input that stands for none.
fn explained(error: anyhow::Error, input: &InputArguments) -> anyhow::Error {
    let is_refused_input = error.downcast_ref::<Failure>().is_some_and(|failure| failure.code() == "input_schema");
    if input.is_given() || !is_refused_input {
        return error;
    }
    Failure::advised(error, "the input was {}, since none was given: add --input '{\"name\": \"value\"}'".to_owned())
}
