//! One file per command. A command reads its arguments, calls the client, prints its answer and says how it ended.

mod absent;
pub mod completions;
pub mod doctor;
pub mod envvar;
pub mod git_credential;
pub mod history;
mod input;
pub mod internal;
pub mod key;
pub mod login;
pub mod org;
mod prompt;
pub mod replay;
pub mod role;
pub mod tool;
pub mod user;
pub mod version;

use std::time::Duration;

use anyhow::Context;

use crate::arguments::{Arguments, Command};
use crate::failure::Outcome;
use crate::output::Screen;
use crate::{demo, server};

/// After an orderly end only file writes that nobody waits for can be left.
const LEFTOVER_TIME_MAX: Duration = Duration::from_secs(1);

pub fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let screen = Screen::new(arguments.json);
    match arguments.command {
        Command::Completions(arguments) => completions::run(&arguments, screen),
        Command::Internal(command) => internal::run(command, screen),
        Command::Serve(arguments) => on_many_threads(server::serve(*arguments, screen)),
        Command::Worker(arguments) => on_many_threads(server::worker(*arguments, screen)),
        Command::Demo(arguments) => on_many_threads(demo::run(arguments, screen)),
        other => one_thread()?.block_on(run_client(other, screen)),
    }
}

/// Commands that ask a server or a data directory one thing after the other.
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
        Command::Serve(_) | Command::Worker(_) | Command::Demo(_) | Command::Completions(_) | Command::Internal(_) => {
            Ok(Outcome::Done)
        }
    }
}

/// How this program is called from where the user stands: its bare name if the shell finds it, else its path.
pub fn program_name() -> String {
    let Ok(program) = std::env::current_exe() else { return "lathe".to_owned() };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_found = std::env::split_paths(&path).any(|directory| directory.join("lathe") == program);
    if is_found { "lathe".to_owned() } else { program.display().to_string() }
}

/// TLS has no default provider here, so that only one cryptography library is built.
pub fn install_tls() -> anyhow::Result<()> {
    let installed = rustls::crypto::ring::default_provider().install_default();
    match installed {
        Ok(()) => Ok(()),
        Err(_) if rustls::crypto::CryptoProvider::get_default().is_some() => Ok(()),
        Err(_) => anyhow::bail!("TLS cannot be set up"),
    }
}

/// Runs a server; what blocks at its end does not hold the program up for long.
fn on_many_threads(work: impl Future<Output = anyhow::Result<Outcome>>) -> anyhow::Result<Outcome> {
    install_tls()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("starting the runtime")?;
    let outcome = runtime.block_on(work);
    runtime.shutdown_timeout(LEFTOVER_TIME_MAX);
    outcome
}

fn one_thread() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("starting the runtime")
}
