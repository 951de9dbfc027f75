//! The command of a command line is run, with its runtime, its umask and the user's home directory.

use clap_complete::env::CompleteEnv;
use nix::sys::stat::{Mode, umask};

use crate::arguments::{self, Arguments, Command};
use crate::commands::{
    agent, backup, cache, completion, completions, conversation, doctor, envvar, gc, git_credential, history, inbox,
    internal, key, library, login, logout, mcp, migrate, node, operation, org, profile, replay, restore, role, run,
    tool, tool_scaffold, user, version, whoami,
};
use crate::failure::Outcome;
use crate::home::{Home, ProfileName};
use crate::output::Screen;
use crate::runtime::{build_one_thread, run_on_many_threads};
use crate::{demo, server};

/// The umask of commands that write to a data directory: no permissions for group and others, also for files that
/// SQLite and git create.
const OTHERS: Mode = Mode::S_IRWXG.union(Mode::S_IRWXO);

/// Answers a shell that asks for completions. Returns whether one asked.
pub fn complete_words() -> bool {
    let directory = std::env::current_dir().ok();
    let completed = CompleteEnv::with_factory(arguments::build_command).var(completion::VARIABLE);
    // A shell shows no errors of completions.
    completed.try_complete(std::env::args_os(), directory.as_deref()).unwrap_or(true)
}

/// Runs the command of a command line.
pub fn run_command(arguments: Arguments) -> anyhow::Result<Outcome> {
    let screen = Screen::new(arguments.json);
    if writes_private_files(&arguments.command) {
        umask(OTHERS);
    }
    match arguments.command {
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Version => version::run(screen),
        Command::Cache(command) => cache::run(&command, screen),
        Command::Internal(command) => internal::run(command, screen),
        Command::Serve(arguments) => {
            run_on_many_threads(server::serve(&arguments, &arguments::find_misspelt_variables(), screen))
        }
        Command::Worker(arguments) => run_on_many_threads(server::worker(&arguments, screen)),
        Command::Demo(demo) => run_on_many_threads(demo::run(demo, arguments.profile, screen)),
        Command::ToolScaffold(command) => {
            let home = Home::of_user(arguments.profile)?;
            build_one_thread()?.block_on(tool_scaffold::run(command, &home, arguments.verbose, screen))
        }
        other => build_one_thread()?.block_on(run_client(other, arguments.profile, screen)),
    }
}

/// Whether a command writes to a data directory or a cache, and not to a project.
fn writes_private_files(command: &Command) -> bool {
    match command {
        Command::Serve(_) | Command::Worker(_) | Command::Demo(_) | Command::Org(_) => true,
        Command::Doctor(_) | Command::Node(_) | Command::Gc(_) => true,
        Command::Backup(_) | Command::Restore(_) | Command::Migrate(_) => true,
        Command::Tool(command) => matches!(command, tool::ToolCommand::Test(_)),
        _ => false,
    }
}

/// Runs a command that calls a server or opens a data directory. Not all of them need the user's home directory.
async fn run_client(command: Command, profile: Option<ProfileName>, screen: Screen) -> anyhow::Result<Outcome> {
    let home = || Home::of_user(profile);
    match command {
        Command::Org(command) => org::run(command, screen).await,
        Command::Login(arguments) => login::run(arguments, &home()?, screen).await,
        Command::Logout => logout::run(&home()?, screen),
        Command::Whoami => whoami::run(&home()?, screen).await,
        Command::Profile(command) => profile::run(command, &home()?, screen),
        Command::Tool(command) => tool::run(command, &home()?, screen).await,
        Command::Envvar(command) => envvar::run(command, &home()?.build_client()?, screen).await,
        Command::Agent(command) => agent::run(command, &home()?.build_client()?, screen).await,
        Command::Conversation(command) => conversation::run(command, &home()?.build_client()?, screen).await,
        Command::Run(command) => run::run(command, &home()?.build_client()?, screen).await,
        Command::Memory(command) => library::memory::run(command, &home()?.build_client()?, screen).await,
        Command::Rule(command) => library::rule::run(command, &home()?.build_client()?, screen).await,
        Command::Skill(command) => library::skill::run(command, &home()?.build_client()?, screen).await,
        Command::Task(command) => library::task::run(command, &home()?.build_client()?, screen).await,
        Command::Prompt(command) => library::prompt::run(command, &home()?.build_client()?, screen).await,
        Command::Artifact(command) => library::artifact::run(command, &home()?.build_client()?, screen).await,
        Command::Preference(command) => library::preference::run(command, &home()?.build_client()?, screen).await,
        Command::Inbox(arguments) => inbox::run(arguments, &home()?.build_client()?, screen).await,
        Command::Mcp(command) => mcp::run(command, &home()?, screen).await,
        Command::User(command) => user::run(command, &home()?.build_client()?, screen).await,
        Command::Role(command) => role::run(command, &home()?.build_client()?, screen).await,
        Command::Key(command) => key::run(command, &home()?.build_client()?, screen).await,
        Command::History(command) => history::run(command, &home()?.build_client()?, screen).await,
        Command::Operation(command) => operation::run(command, &home()?.build_client()?, screen).await,
        Command::Replay(arguments) => replay::run(arguments, &home()?.build_client()?, screen).await,
        Command::GitCredential(arguments) => git_credential::run(&arguments, &home()?, screen).await,
        Command::Doctor(arguments) => doctor::run(arguments, &home()?, screen).await,
        Command::Node(command) => node::run(command, screen).await,
        Command::Gc(arguments) => gc::run(&arguments, screen).await,
        Command::Backup(arguments) => backup::run(&arguments, screen).await,
        Command::Restore(arguments) => restore::run(&arguments, screen).await,
        Command::Migrate(arguments) => migrate::run(&arguments, screen).await,
        Command::Serve(_)
        | Command::Worker(_)
        | Command::Demo(_)
        | Command::Completions(_)
        | Command::Cache(_)
        | Command::ToolScaffold(_)
        | Command::Version
        | Command::Internal(_) => Ok(Outcome::Done),
    }
}
