//! `lathe tool`: one file per subcommand.

mod create;
mod deprecate;
mod invoke;
mod list;
mod log;
mod new;
mod project;
mod publish;
mod test;
mod versions;

use clap::Subcommand;

pub use new::{template_parser, write_project};

use crate::failure::Outcome;
use crate::home::Home;
use crate::output::Screen;

#[derive(Debug, Subcommand)]
pub enum ToolCommand {
    /// Create a project for a new tool from a template
    New(new::NewArguments),
    /// Register a tool with the server, once, before its first publish
    Create(create::CreateArguments),
    /// Build, check and run a project: a local directory, or a pushed branch on the server
    Test(test::TestArguments),
    /// Build a pushed branch and publish it as the next version
    Publish(publish::PublishArguments),
    /// Run a published version of a tool
    Invoke(invoke::InvokeArguments),
    /// List tools
    List(list::ListArguments),
    /// List the versions of a tool, or show one
    Versions(versions::VersionsArguments),
    /// Show the log of a build, successful or not
    Log(log::LogArguments),
    /// Deprecate a tool, or some of its versions
    Deprecate(deprecate::DeprecateArguments),
}

pub async fn run(command: ToolCommand, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        ToolCommand::New(arguments) => new::run(&arguments, screen),
        ToolCommand::Test(arguments) => test::run(&arguments, screen).await,
        other => run_client(other, screen).await,
    }
}

async fn run_client(command: ToolCommand, screen: Screen) -> anyhow::Result<Outcome> {
    let client = Home::of_user()?.client()?;
    match command {
        ToolCommand::New(_) | ToolCommand::Test(_) => Ok(Outcome::Done),
        ToolCommand::Create(arguments) => create::run(&client, &arguments, screen).await,
        ToolCommand::Publish(arguments) => publish::run(&client, &arguments, screen).await,
        ToolCommand::Invoke(arguments) => invoke::run(&client, &arguments, screen).await,
        ToolCommand::List(arguments) => list::run(&client, arguments, screen).await,
        ToolCommand::Versions(arguments) => versions::run(&client, arguments, screen).await,
        ToolCommand::Log(arguments) => log::run(&client, &arguments, screen).await,
        ToolCommand::Deprecate(arguments) => deprecate::run(&client, &arguments, screen).await,
    }
}
