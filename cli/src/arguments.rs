//! The command line. Each command's arguments are in the command's file.

mod tips;
mod usage;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::{
    agent::AgentCommand, backup::BackupArguments, cache::CacheCommand, completions::CompletionsArguments,
    conversation::ConversationCommand, envvar::EnvvarCommand, gc::GcArguments, git_credential::GitCredentialArguments,
    history::HistoryCommand, inbox::InboxArguments, internal::InternalCommand, key::KeyCommand, library,
    login::LoginArguments, mcp::McpCommand, migrate::MigrateArguments, node::NodeCommand, operation::OperationCommand,
    org::OrgCommand, profile::ProfileCommand, replay::ReplayArguments, restore::RestoreArguments, role::RoleCommand,
    run::RunCommand, tool::ToolCommand, tool_scaffold::ScaffoldCommand, user::UserCommand,
};
use crate::demo::DemoArguments;
use crate::error_report::ErrorReport;
use crate::home::ProfileName;
use crate::server::{DataArguments, ServeArguments, WorkerArguments};

/// Turns git commits into versioned, sandboxed, recorded tools that agents and applications can call.
#[derive(Debug, Parser)]
#[command(name = "lathe", version, max_term_width = 120, arg_required_else_help = true)]
pub struct Arguments {
    /// Print one JSON document on stdout, also for an error; progress and messages stay on stderr
    #[arg(long, global = true)]
    pub json: bool,
    /// Print the stable code of an error with its message
    #[arg(long, short = 'v', global = true)]
    pub verbose: bool,
    /// Login to use, of those that `lathe profile list` shows [default: that of `lathe profile use`]
    #[arg(long, global = true, env = "LATHE_PROFILE", value_name = "NAME")]
    pub profile: Option<ProfileName>,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the server
    Serve(Box<ServeArguments>),
    /// Run a build worker for a server on this machine (`lathe serve --build-workers external`)
    Worker(Box<WorkerArguments>),
    /// Manage organisations directly in a data directory
    #[command(subcommand)]
    Org(OrgCommand),
    /// Run a guided demo, from source code to run history, in a temporary directory
    Demo(DemoArguments),
    /// Log in: check an API key and save it with the server's address
    Login(LoginArguments),
    /// Log out: remove the saved API key and token from this machine
    Logout,
    /// Show the logged-in user with server, organisation and permissions
    Whoami,
    /// List logins and choose one
    #[command(subcommand)]
    Profile(ProfileCommand),
    /// Create, test, publish, run, inspect and verify tools
    #[command(subcommand)]
    Tool(ToolCommand),
    /// Install the Python package for authors in the environments of projects
    #[command(subcommand)]
    ToolScaffold(ScaffoldCommand),
    /// List, set and remove a tool's environment variables
    #[command(subcommand)]
    Envvar(EnvvarCommand),
    /// Create agents, assign tools to them, and deploy them
    #[command(subcommand)]
    Agent(AgentCommand),
    /// Try the turns of a conversation with an agent
    #[command(subcommand)]
    Conversation(ConversationCommand),
    /// Start, list, follow and cancel runs of agents
    #[command(subcommand)]
    Run(RunCommand),
    /// List, show and answer the requests of agents to people
    Inbox(InboxArguments),
    /// Manage your memories, which agents find again
    #[command(subcommand)]
    Memory(library::memory::MemoryCommand),
    /// Manage your rules: what agents must, must not or should do
    #[command(subcommand)]
    Rule(library::rule::RuleCommand),
    /// Manage your skills: instructions that agents follow again
    #[command(subcommand)]
    Skill(library::skill::SkillCommand),
    /// Manage your tasks, which are due at a time, once or again and again
    #[command(subcommand)]
    Task(library::task::TaskCommand),
    /// Manage your prompts: texts with variables
    #[command(subcommand)]
    Prompt(library::prompt::PromptCommand),
    /// Manage your artifacts: reports, dashboards, plans and other results
    #[command(subcommand)]
    Artifact(library::artifact::ArtifactCommand),
    /// Manage your preferences, each under a key
    #[command(subcommand)]
    Preference(library::preference::PreferenceCommand),
    /// Connect MCP clients to agents
    #[command(subcommand)]
    Mcp(McpCommand),
    /// List, search, export and show the records of runs
    #[command(subcommand)]
    History(HistoryCommand),
    /// Repeat a recorded run offline, from its recording, and compare
    Replay(ReplayArguments),
    /// Show asynchronous operations, and wait for them
    #[command(subcommand)]
    Operation(OperationCommand),
    /// Manage the organisation's users
    #[command(subcommand)]
    User(UserCommand),
    /// Manage roles, which hold users' permissions
    #[command(subcommand)]
    Role(RoleCommand),
    /// Create, list and revoke API keys, and list the keys that sign versions
    #[command(subcommand)]
    Key(KeyCommand),
    /// Git credential helper: give git a token for your server
    GitCredential(GitCredentialArguments),
    /// Check this machine for what lathe needs
    Doctor(DataArguments),
    /// List the servers of a database, on the machine of one of them
    #[command(subcommand)]
    Node(NodeCommand),
    /// Delete what nothing needs from a data directory: old failed builds and unused artifacts
    Gc(GcArguments),
    /// Show or clear the cache of this user, in which local tests keep compiled code and packages
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Copy a data directory, with or without a running server
    Backup(BackupArguments),
    /// Make a data directory from a backup
    Restore(RestoreArguments),
    /// Copy a data directory to Postgres and to a bucket, with its whole history
    ///
    /// With --to, copies all rows of the database in batches, compares them, and prints the digest of each table. With --storage,
    /// copies the artifacts and the large bodies of recordings to a bucket, and with Postgres the repositories, too; reads them
    /// back, and prints their numbers. Run an interrupted command again: it goes on where it was. The data directory stays as it is.
    Migrate(MigrateArguments),
    /// Print a completion script for a shell
    ///
    /// The script asks this program for completions, among them the names of the tools on the server. Load it whenever the
    /// shell starts, so that it fits the installed release: `source <(lathe completions bash)`
    Completions(CompletionsArguments),
    /// Print the version of this program
    Version,
    /// Child processes of the server
    #[command(subcommand, hide = true)]
    Internal(InternalCommand),
}

impl Arguments {
    /// Reads a command line. Help, and what is wrong with an invalid one, are printed; the error is the exit code.
    pub fn read(line: impl IntoIterator<Item = OsString>) -> Result<Self, ExitCode> {
        let line: Vec<OsString> = line.into_iter().collect();
        let mut command = build_command();
        let parsed = command.try_get_matches_from_mut(&line);
        let read =
            parsed.and_then(|matches| Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command)));
        read.map_err(|error| {
            let words: Vec<String> = line.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            let error = tips::add_options(error, &command, &words);
            if error.use_stderr() {
                let report = ErrorReport { is_json: line.iter().any(|word| word == "--json"), is_verbose: false };
                report.show_invalid_command_line(summarize(&error.to_string()));
            }
            // A closed stream cannot be reported.
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1))
        })
    }
}

/// The command line, with arguments in the order of their use in the usage lines.
pub fn build_command() -> clap::Command {
    usage::order_usage(strip_notes(Arguments::command()))
}

/// Leaves to an argument the first paragraph of its comment. The others are for the reference, with links to other pages.
fn strip_notes(command: clap::Command) -> clap::Command {
    command.mut_args(|argument| argument.long_help(None::<&str>)).mut_subcommands(strip_notes)
}

/// Variables of the environment that are not read, and are probably misspelt, each with the one that was meant.
pub fn find_misspelt_variables() -> Vec<(String, String)> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    tips::find_misspelt(&build_command(), names)
}

/// The first paragraph of an error of clap, without its label.
fn summarize(text: &str) -> &str {
    let first = text.split("\n\n").next().unwrap_or_default();
    first.trim_start_matches("error: ").trim()
}

#[cfg(test)]
#[path = "arguments/tests/configuration.rs"]
mod configuration;
#[cfg(test)]
#[path = "arguments/tests/documents.rs"]
mod documents;
#[cfg(test)]
#[path = "arguments/tests/reference.rs"]
mod reference;
#[cfg(test)]
#[path = "arguments/tests/rows.rs"]
mod rows;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        build_command().debug_assert();
    }
}
