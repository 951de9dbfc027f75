//! `lathe internal …`: what the server calls in child processes of its own. Not for people, and free to change.

use std::ffi::OsString;
use std::path::PathBuf;

use builder::source::pre_receive::{self, HookEnvironment};
use clap::{Args, Subcommand};

use serde_json::json;

use crate::failure::Outcome;
use crate::output::Screen;

#[derive(Debug, Subcommand)]
pub enum InternalCommand {
    /// Git's hook before it accepts a push
    PreReceive,
    /// Compiles one component
    Compile(CompileArguments),
    /// Makes one code bundle
    Bundle,
    /// Bundles JavaScript in the current directory, and sees nothing else
    Esbuild(EsbuildArguments),
    /// Runs tools
    Run(RunArguments),
}

#[derive(Debug, Args)]
pub struct CompileArguments {
    /// Of an author's own, which may cost less than the platform's
    #[arg(long)]
    author: bool,
    /// Only looks whether this machine can load the code that is its standard input
    #[arg(long)]
    check: bool,
}

#[derive(Debug, Args)]
pub struct EsbuildArguments {
    program: PathBuf,
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

#[derive(Debug, Args)]
pub struct RunArguments {
    /// Tries to escape instead, and says what was refused
    #[arg(long)]
    drill: bool,
    /// Tries without confinement, for comparison
    #[arg(long, requires = "drill")]
    unconfined: bool,
}

pub fn run(command: InternalCommand, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        InternalCommand::PreReceive => Ok(decide_on_push()),
        InternalCommand::Compile(CompileArguments { check: true, .. }) => {
            runner::child_check_main()?;
            Ok(Outcome::Done)
        }
        InternalCommand::Compile(CompileArguments { author, .. }) => {
            let maker = if author { runner::Maker::Author } else { runner::Maker::Platform };
            runner::child_compile_main(maker)?;
            Ok(Outcome::Done)
        }
        InternalCommand::Bundle => {
            builder::child_bundle_main()?;
            Ok(Outcome::Done)
        }
        InternalCommand::Esbuild(EsbuildArguments { program, arguments }) => {
            builder::child_esbuild_main(&program, &arguments)?;
            Ok(Outcome::Done)
        }
        InternalCommand::Run(RunArguments { drill: false, .. }) => {
            runner::child_run_main()?;
            Ok(Outcome::Done)
        }
        InternalCommand::Run(RunArguments { unconfined, .. }) => drill(!unconfined, screen),
    }
}

/// One document: `lathe doctor` reads it, and tests.
fn drill(is_confined: bool, screen: Screen) -> anyhow::Result<Outcome> {
    let drill = runner::drill(is_confined)?;
    screen.document(&json!(drill))?;
    Ok(Outcome::Done)
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
