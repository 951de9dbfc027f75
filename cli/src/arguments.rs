//! The command line. Each command's own arguments stand in its file.

use clap::{Parser, Subcommand};

use crate::commands::{
    completions::CompletionsArguments, envvar::EnvvarCommand, git_credential::GitCredentialArguments,
    history::HistoryCommand, internal::InternalCommand, key::KeyCommand, login::LoginArguments, org::OrgCommand,
    replay::ReplayArguments, role::RoleCommand, tool::ToolCommand, user::UserCommand, version::VersionCommand,
};
use crate::demo::DemoArguments;
use crate::server::{DataArguments, ServeArguments, WorkerArguments};

/// Turns git commits into versioned, sandboxed, recorded tools that agents and applications can call.
#[derive(Debug, Parser)]
#[command(name = "lathe", version, max_term_width = 120, arg_required_else_help = true)]
pub struct Arguments {
    /// Print one JSON document on stdout; progress and messages go to stderr
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the server
    Serve(Box<ServeArguments>),
    /// Build for a server on this machine that has `--build-workers external`
    Worker(Box<WorkerArguments>),
    /// Create organisations and keys on a data directory
    #[command(subcommand)]
    Org(OrgCommand),
    /// See the whole way from source to history in a temporary directory
    Demo(DemoArguments),
    /// Remember a server and a key, and check them
    Login(LoginArguments),
    /// Make, test, publish and run tools
    #[command(subcommand)]
    Tool(ToolCommand),
    /// Verify versions, and see what they are made of
    #[command(subcommand)]
    Version(VersionCommand),
    /// Set and unset the variables of a tool
    #[command(subcommand)]
    Envvar(EnvvarCommand),
    /// Look into the record of every run
    #[command(subcommand)]
    History(HistoryCommand),
    /// Run a record's code again over its tape, without the world, and compare
    Replay(ReplayArguments),
    /// Manage the users of the organisation
    #[command(subcommand)]
    User(UserCommand),
    /// Manage what users may do
    #[command(subcommand)]
    Role(RoleCommand),
    /// Make, list and revoke API keys, your own or everybody's
    #[command(subcommand)]
    Key(KeyCommand),
    /// Answer git's question for credentials
    GitCredential(GitCredentialArguments),
    /// Check what this machine has and lacks
    Doctor(DataArguments),
    /// Print a shell's completion script
    Completions(CompletionsArguments),
    /// Called by the server itself
    #[command(subcommand, hide = true)]
    Internal(InternalCommand),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
