//! `lathe tool`: one file per subcommand.

mod checkout;
mod create;
mod deprecate;
mod edit;
mod invoke;
mod list;
mod log;
mod new;
mod project;
mod provenance;
mod publish;
mod show;
mod source;
mod tags;
mod test;
mod tool_at;
mod verify;
mod version_arguments;
mod versions;

use clap::Subcommand;

pub use checkout::run_git;

use crate::client::Client;
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
    ///
    /// Takes the pushed state of the releases/… branch that is checked out, else of releases/ORG. If the checkout differs from
    /// it, the command asks, or stops without a terminal.
    Publish(publish::PublishArguments),
    /// Run a published version of a tool
    Invoke(invoke::InvokeArguments),
    /// List tools
    List(list::ListArguments),
    /// Show a tool, or one of its versions with all details and its build log
    Show(show::ShowArguments),
    /// Change the description or the tags of a tool
    Edit(edit::EditArguments),
    /// List the versions of a tool
    Versions(versions::VersionsArguments),
    /// Show the log of a build, successful or not
    Log(log::LogArguments),
    /// Rebuild a version from its commit and compare the bytes
    Verify(verify::VerifyArguments),
    /// Print a version's SLSA provenance in its signed envelope
    Provenance(version_arguments::VersionArguments),
    /// Print a version's CycloneDX bill of materials
    Sbom(version_arguments::VersionArguments),
    /// Deprecate a tool, or some of its versions
    Deprecate(deprecate::DeprecateArguments),
}

pub async fn run(command: ToolCommand, home: &Home, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        ToolCommand::New(arguments) => new::run(&arguments, home, screen),
        ToolCommand::Test(arguments) => test::run(&arguments, home, screen).await,
        other => run_client(other, &home.build_client()?, screen).await,
    }
}

async fn run_client(command: ToolCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        ToolCommand::New(_) | ToolCommand::Test(_) => Ok(Outcome::Done),
        ToolCommand::Create(arguments) => create::run(client, &arguments, screen).await,
        ToolCommand::Publish(arguments) => publish::run(client, &arguments, screen).await,
        ToolCommand::Invoke(arguments) => invoke::run(client, &arguments, screen).await,
        ToolCommand::List(arguments) => list::run(client, arguments, screen).await,
        ToolCommand::Show(arguments) => show::run(client, &arguments, screen).await,
        ToolCommand::Edit(arguments) => edit::run(client, &arguments, screen).await,
        ToolCommand::Versions(arguments) => versions::run(client, arguments, screen).await,
        ToolCommand::Log(arguments) => log::run(client, &arguments, screen).await,
        ToolCommand::Verify(arguments) => verify::run(client, &arguments, screen).await,
        ToolCommand::Provenance(arguments) => provenance::run(client, &arguments, "provenance").await,
        ToolCommand::Sbom(arguments) => provenance::run(client, &arguments, "sbom").await,
        ToolCommand::Deprecate(arguments) => deprecate::run(client, &arguments, screen).await,
    }
}
