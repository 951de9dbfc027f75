//! `lathe tool-scaffold install`: installs the Python package `amigo_tool_scaffold` for projects of tools.

mod projects;
mod uv;

use anyhow::Context;
use clap::{Args, Subcommand};
use serde_json::json;

use projects::{Project, choose};
use uv::Uv;

use crate::client::Client;
use crate::failure::Outcome;
use crate::home::{Home, ProfileName};
use crate::output::Screen;

/// The package, by the name that its archive has.
const PACKAGE: &str = "amigo_tool_scaffold";

#[derive(Debug, Subcommand)]
pub enum ScaffoldCommand {
    /// Install the package in the virtual environment of projects, from the server; uv 0.10.2 or later does the work
    ///
    /// Without --tool and --all, the project around the current directory is meant; elsewhere the command asks. Each project gets an
    /// environment in .venv, unless it has one.
    Install(InstallArguments),
}

#[derive(Debug, Args)]
pub struct InstallArguments {
    /// Login to use, as --profile
    #[arg(long = "env", short = 'e', value_name = "PROFILE")]
    environment: Option<ProfileName>,
    /// Install for this tool, in tools/NAME
    #[arg(long, short = 't', value_name = "NAME", conflicts_with = "all")]
    tool: Option<String>,
    /// Install for all Python tools
    #[arg(long)]
    all: bool,
}

pub async fn run(command: ScaffoldCommand, home: &Home, is_verbose: bool, screen: Screen) -> anyhow::Result<Outcome> {
    let ScaffoldCommand::Install(InstallArguments { environment, tool, all }) = command;
    let uv = Uv::find(is_verbose)?;
    let home = environment.map_or_else(|| home.clone(), |profile| home.with(profile));
    let projects = choose(tool.as_deref(), all)?;
    let archive = download(&home.build_client()?).await?;
    let archive_file = archive.path().join(format!("{PACKAGE}.tar.gz"));
    let requirement = format!("{PACKAGE} @ file://{}", archive_file.display());
    for Project { name, directory } in &projects {
        uv.install(directory, &requirement)?;
        screen.note(format!("installed {PACKAGE} for {name} in {}", directory.join(uv::ENVIRONMENT).display()));
    }
    let directories: Vec<String> = projects.iter().map(|project| project.directory.display().to_string()).collect();
    screen.answer(&json!({ "installed": directories }), || {
        let count = directories.len();
        format!("installed for {count} {}", if count == 1 { "tool" } else { "tools" })
    })
}

/// Downloads the package to a directory that is deleted at the end.
async fn download(client: &Client) -> anyhow::Result<tempfile::TempDir> {
    let bytes = client.get_tool_scaffold().await?;
    let directory = tempfile::tempdir().context("making a directory for the package")?;
    let file = directory.path().join(format!("{PACKAGE}.tar.gz"));
    std::fs::write(&file, bytes).with_context(|| format!("writing {}", file.display()))?;
    Ok(directory)
}
