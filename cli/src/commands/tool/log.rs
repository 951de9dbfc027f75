//! `lathe tool log`: shows the log of a build, successful or not.

use anyhow::Context;
use api::wire::{Build, BuildOutcome};
use clap::{ArgGroup, Args};
use serde_json::{Value, json};

use crate::client::Client;
use crate::failure::Outcome;
use crate::output::{Screen, printable};

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("which").required(true)))]
pub struct LogArguments {
    /// The tool's name or id
    tool: String,
    /// The build's id, as a failed publish shows it
    #[arg(value_name = "BUILD_ID", group = "which")]
    build: Option<String>,
    /// Show the build of this version
    #[arg(long, value_name = "VERSION", group = "which")]
    version: Option<String>,
}

pub async fn run(client: &Client, arguments: &LogArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let tool = client.find_tool(&arguments.tool).await?;
    if let Some(version) = &arguments.version {
        let detail = client.version_detail(&tool.id, version).await.with_context(|| format!("version {version}"))?;
        let log = detail["build_log"].as_str().unwrap_or_default();
        return screen.answer(&json!({ "version": version, "log": log }), || shown(log));
    }
    let build = arguments.build.as_deref().unwrap_or_default();
    let answer = client.show_build(&tool.id, build).await.with_context(|| format!("build {build}"))?;
    screen.answer(&answer.document, || text(&answer.body, &answer.document))
}

fn text(build: &Build, document: &Value) -> String {
    let state = match &build.outcome {
        BuildOutcome::Failed { stage, .. } => format!("failed in {stage}"),
        BuildOutcome::Succeeded { version, .. } => format!("published version {version}"),
        BuildOutcome::Running => "running; the log is available when it ends".to_owned(),
        BuildOutcome::Unknown => document["state"].as_str().unwrap_or_default().to_owned(),
    };
    let finished_at = build.finished_at.as_deref().unwrap_or("not yet");
    let head = format!("state     {state}\nstarted   {}\nfinished  {finished_at}\n", build.started_at);
    printable(&format!("{head}\n{}", build.log.trim_end()))
}

fn shown(log: &str) -> String {
    printable(log.trim_end())
}
