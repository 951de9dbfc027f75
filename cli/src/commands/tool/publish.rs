//! `lathe tool publish`

use std::path::PathBuf;

use clap::Args;

use super::project;
use crate::client::{Bump, Client, PublishRequest};
use crate::failure::{Failure, Outcome};
use crate::output::{BuildDisplay, Screen};

#[derive(Debug, Args)]
pub struct PublishArguments {
    /// The tool's name or id
    tool: String,
    /// Which part of the version grows; the first version is 1.0.0 in any case
    #[arg(long, value_enum)]
    bump: Bump,
    /// The pushed branch to build [default: the organisation's own]
    #[arg(long)]
    branch: Option<String>,
    /// The project's directory [default: tools/NAME in the repository]
    #[arg(long, value_name = "DIRECTORY")]
    path: Option<PathBuf>,
}

pub async fn run(client: &Client, arguments: &PublishArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let tool = client.find_tool(&arguments.tool).await?;
    let project_path = match &arguments.path {
        Some(path) => project::project_path(Some(path))?,
        None => format!("tools/{}", tool.name),
    };
    let request = PublishRequest { project_path, bump_type: arguments.bump, commit_branch: arguments.branch.clone() };
    let display = BuildDisplay::start(&format!("publishing {}", tool.name));
    let answer = client.publish(&tool.id, &request, |event| display.show(event)).await;
    drop(display);
    let answer = answer.map_err(|error| Failure::in_build_of(&tool.name, error))?;
    screen.answer(&answer.document, || format!("published {} {}", tool.name, answer.body.new_version))?;
    Ok(Outcome::Done)
}
