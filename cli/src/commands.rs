//! One file per command. A command reads its arguments, calls the client, prints the answer and returns its outcome.

pub mod completions;
pub mod doctor;
pub mod envvar;
pub mod gc;
pub mod git_credential;
pub mod history;
mod input;
pub mod internal;
pub mod key;
pub mod login;
mod not_found;
pub mod org;
mod prompt;
pub mod replay;
pub mod role;
mod times;
pub mod tool;
pub mod user;
pub mod version;

use std::time::Duration;

use anyhow::Context;
use clap::CommandFactory;
use nix::sys::stat::{Mode, umask};

use crate::arguments::{Arguments, Command};
use crate::failure::Outcome;
use crate::output::Screen;
use crate::{demo, server};

/// Time for blocking tasks at the end. After an orderly end only file writes remain.
const SHUTDOWN_TIME_MAX: Duration = Duration::from_secs(1);

/// The umask of commands that write to a data directory: no permissions for group and others, also for files that
/// SQLite and git create.
const OTHERS: Mode = Mode::S_IRWXG.union(Mode::S_IRWXO);

pub fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let screen = Screen::new(arguments.json);
    if writes_private_files(&arguments.command) {
        umask(OTHERS);
    }
    match arguments.command {
        Command::Completions(arguments) => completions::run(&arguments, &mut Arguments::command(), screen),
        Command::Internal(command) => internal::run(command, screen),
        Command::Serve(arguments) => on_many_threads(server::serve(*arguments, screen)),
        Command::Worker(arguments) => on_many_threads(server::worker(*arguments, screen)),
        Command::Demo(arguments) => on_many_threads(demo::run(arguments, screen)),
        other => one_thread()?.block_on(run_client(other, screen)),
    }
}

/// Whether a command writes to a data directory or a cache, and not to a project.
fn writes_private_files(command: &Command) -> bool {
    match command {
        Command::Serve(_) | Command::Worker(_) | Command::Demo(_) | Command::Org(_) => true,
        Command::Doctor(_) | Command::Gc(_) => true,
        Command::Tool(command) => matches!(command, tool::ToolCommand::Test(_)),
        _ => false,
    }
}

/// Runs a command that calls a server or opens a data directory.
async fn run_client(command: Command, screen: Screen) -> anyhow::Result<Outcome> {
    install_tls()?;
    match command {
        Command::Org(command) => org::run(command, screen).await,
        Command::Login(arguments) => login::run(arguments, screen).await,
        Command::Tool(command) => tool::run(command, screen).await,
        Command::Version(command) => version::run(command, screen).await,
        Command::Envvar(command) => envvar::run(command, screen).await,
        Command::User(command) => user::run(command, screen).await,
        Command::Role(command) => role::run(command, screen).await,
        Command::Key(command) => key::run(command, screen).await,
        Command::History(command) => history::run(command, screen).await,
        Command::Replay(arguments) => replay::run(arguments, screen).await,
        Command::GitCredential(arguments) => git_credential::run(&arguments, screen).await,
        Command::Doctor(arguments) => doctor::run(arguments, screen).await,
        Command::Gc(arguments) => gc::run(&arguments, screen).await,
        Command::Serve(_) | Command::Worker(_) | Command::Demo(_) | Command::Completions(_) | Command::Internal(_) => {
            Ok(Outcome::Done)
        }
    }
}

/// Installs the TLS provider. It is chosen here so that only one cryptography library is built.
pub fn install_tls() -> anyhow::Result<()> {
    let installed = rustls::crypto::ring::default_provider().install_default();
    match installed {
        Ok(()) => Ok(()),
        Err(_) if rustls::crypto::CryptoProvider::get_default().is_some() => Ok(()),
        Err(_) => anyhow::bail!("the TLS provider cannot be installed"),
    }
}

/// Runs a server on a multi-threaded runtime. Blocking tasks delay its end by [`SHUTDOWN_TIME_MAX`].
fn on_many_threads(work: impl Future<Output = anyhow::Result<Outcome>>) -> anyhow::Result<Outcome> {
    install_tls()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("starting the runtime")?;
    let outcome = runtime.block_on(work);
    runtime.shutdown_timeout(SHUTDOWN_TIME_MAX);
    outcome
}

fn one_thread() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("starting the runtime")
}
