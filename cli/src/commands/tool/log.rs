//! `lathe tool log`: shows the log of a build, successful or not.

use api::wire::{Build, BuildOutcome};
use clap::{ArgGroup, Args};
use serde_json::{Value, json};

use super::version_arguments::{find_number, name_missing};
use crate::client::Client;
use crate::commands::constraint::Constraint;
use crate::commands::{completion, not_found};
use crate::failure::Outcome;
use crate::output::{Screen, escape_hidden};

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("which").required(true)))]
pub struct LogArguments {
    /// The tool's name or id
    #[arg(add = completion::complete_tools())]
    tool: String,
    /// The build's id, as a failed publish shows it
    #[arg(value_name = "BUILD_ID", group = "which")]
    build: Option<String>,
    /// Show the build of this version; 1.2, 1 and ^1.2 stand for the newest live one that matches
    #[arg(long, value_name = "VERSION", group = "which")]
    version: Option<Constraint>,
}

pub async fn run(client: &Client, arguments: &LogArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let tool = client.find_tool(&arguments.tool).await?;
    if let Some(constraint) = &arguments.version {
        let version = find_number(client, &tool, constraint).await?;
        let detail = name_missing(client.get_version_detail(&tool.id, &version).await, &tool, &version)?;
        let log = detail["build_log"].as_str().unwrap_or_default();
        return screen.answer(&json!({ "version": version, "log": log }), || show_log(log));
    }
    let build = arguments.build.as_deref().unwrap_or_default();
    let answer = client.show_build(&tool.id, build).await;
    let hint = "a refused publish shows the id of its build; --version shows the build of a version";
    let answer = not_found::name_missing(answer, &format!("build {build} of {}", tool.name), hint)?;
    screen.answer(&answer.document, || render_text(&answer.body, &answer.document))
}

fn render_text(build: &Build, document: &Value) -> String {
    let state = match &build.outcome {
        BuildOutcome::Failed { stage, .. } => format!("failed in {stage}"),
        BuildOutcome::Succeeded { version, .. } => format!("published version {version}"),
        BuildOutcome::Running => "running; the log is available when it ends".to_owned(),
        BuildOutcome::Unknown => document["state"].as_str().unwrap_or_default().to_owned(),
    };
    let finished_at = build.finished_at.as_deref().unwrap_or("not yet");
    let head = format!("state     {state}\nstarted   {}\nfinished  {finished_at}\n", build.started_at);
    escape_hidden(&format!("{head}\n{}", build.log.trim_end()))
}

fn show_log(log: &str) -> String {
    escape_hidden(log.trim_end())
}
