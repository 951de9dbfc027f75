//! The command line. Each command's arguments are in the command's file.

use clap::{Parser, Subcommand};

use crate::commands::{
    completions::CompletionsArguments, envvar::EnvvarCommand, gc::GcArguments, git_credential::GitCredentialArguments,
    history::HistoryCommand, internal::InternalCommand, key::KeyCommand, login::LoginArguments, org::OrgCommand,
    replay::ReplayArguments, role::RoleCommand, tool::ToolCommand, user::UserCommand, version::VersionCommand,
};
use crate::demo::DemoArguments;
use crate::server::{DataArguments, ServeArguments, WorkerArguments};

/// Turns git commits into versioned, sandboxed, recorded tools that agents and applications can call.
#[derive(Debug, Parser)]
#[command(name = "lathe", version, max_term_width = 120, arg_required_else_help = true)]
pub struct Arguments {
    /// Print one JSON document on stdout; progress and messages stay on stderr
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the server
    Serve(Box<ServeArguments>),
    /// Run a build worker for a server on this machine (`lathe serve --build-workers external`)
    Worker(Box<WorkerArguments>),
    /// Create organisations and API keys directly in a data directory
    #[command(subcommand)]
    Org(OrgCommand),
    /// Run a guided demo, from source code to run history, in a temporary directory
    Demo(DemoArguments),
    /// Log in: check an API key and save it with the server's address
    Login(LoginArguments),
    /// Create, test, publish and run tools
    #[command(subcommand)]
    Tool(ToolCommand),
    /// Verify versions and show their provenance and contents
    #[command(subcommand)]
    Version(VersionCommand),
    /// Set and remove a tool's environment variables
    #[command(subcommand)]
    Envvar(EnvvarCommand),
    /// List, search and show the records of runs
    #[command(subcommand)]
    History(HistoryCommand),
    /// Repeat a recorded run offline, from its recording, and compare
    Replay(ReplayArguments),
    /// Manage the organisation's users
    #[command(subcommand)]
    User(UserCommand),
    /// Manage roles, which hold users' permissions
    #[command(subcommand)]
    Role(RoleCommand),
    /// Create, list and revoke API keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Git credential helper: give git a token for your server
    GitCredential(GitCredentialArguments),
    /// Check this machine for what lathe needs
    Doctor(DataArguments),
    /// Delete what nothing needs from a data directory: old failed builds and unused artifacts
    Gc(GcArguments),
    /// Print a completion script for a shell
    Completions(CompletionsArguments),
    /// Child processes of the server
    #[command(subcommand, hide = true)]
    Internal(InternalCommand),
}

#[cfg(test)]
#[path = "arguments/tests/reference.rs"]
mod reference;

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
