//! `lathe internal …`: what the server calls in child processes of its own. Not for people, and free to change.

use builder::source::pre_receive::{self, HookEnvironment};
use clap::Subcommand;

use crate::failure::Outcome;
use crate::output::Screen;

#[derive(Debug, Subcommand)]
pub enum InternalCommand {
    /// Git's hook before it accepts a push
    PreReceive,
    /// Compiles one component
    Compile,
    /// Makes one code bundle
    Bundle,
}

pub fn run(command: InternalCommand) -> anyhow::Result<Outcome> {
    match command {
        InternalCommand::PreReceive => Ok(decide_on_push()),
        InternalCommand::Compile => {
            runner::child_compile_main()?;
            Ok(Outcome::Done)
        }
        InternalCommand::Bundle => {
            builder::child_bundle_main()?;
            Ok(Outcome::Done)
        }
    }
}

/// Git shows what a hook says on stderr to whoever pushes.
fn decide_on_push() -> Outcome {
    let environment = HookEnvironment::read(|name| std::env::var_os(name));
    match pre_receive::run(std::io::stdin().lock(), &environment) {
        Ok(()) => Outcome::Done,
        Err(refusal) => {
            Screen::new(false).note(refusal);
            Outcome::Failed
        }
    }
}
