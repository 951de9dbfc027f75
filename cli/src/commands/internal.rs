//! `lathe internal`: the server's child processes. Not for users; may change in any release.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use repository::{HookEnvironment, check_push};
use serde_json::json;

use crate::failure::Outcome;
use crate::output::Screen;

#[derive(Debug, Subcommand)]
pub enum InternalCommand {
    /// Git's pre-receive hook
    PreReceive,
    /// Compiles one component
    Compile(CompileArguments),
    /// Parses TOML
    Parse,
    /// Builds one code bundle
    Bundle,
    /// Runs esbuild confined to the current directory
    Esbuild(EsbuildArguments),
    /// Matches inputs against schemas
    Schema,
    /// Runs tools
    Run(RunArguments),
}

#[derive(Debug, Args)]
pub struct CompileArguments {
    /// Compile an author's component, with stricter limits than the platform's own
    #[arg(long)]
    author: bool,
    /// Only check whether this machine can load the compiled code on stdin
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
    /// Test the confinement instead: try to escape, and report what was refused
    #[arg(long)]
    self_test: bool,
    /// Test without confinement, for comparison
    #[arg(long, requires = "self_test")]
    unconfined: bool,
}

pub fn run(command: InternalCommand, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        InternalCommand::PreReceive => return Ok(decide_on_push()),
        InternalCommand::Compile(CompileArguments { check: true, .. }) => runner::child_check_main()?,
        InternalCommand::Compile(CompileArguments { author, .. }) => {
            runner::child_compile_main(if author { runner::Maker::Author } else { runner::Maker::Platform })?;
        }
        InternalCommand::Parse => builder::child_parse_main()?,
        InternalCommand::Bundle => builder::child_bundle_main()?,
        InternalCommand::Esbuild(EsbuildArguments { program, arguments }) => {
            builder::child_esbuild_main(&program, &arguments)?;
        }
        InternalCommand::Schema => runner::child_schema_main()?,
        InternalCommand::Run(RunArguments { self_test: false, .. }) => runner::child_run_main()?,
        InternalCommand::Run(RunArguments { unconfined, .. }) => return run_self_test(!unconfined, screen),
    }
    Ok(Outcome::Done)
}

/// Prints the result of the self-test as a document, which `lathe doctor` and tests read.
fn run_self_test(is_confined: bool, screen: Screen) -> anyhow::Result<Outcome> {
    let result = runner::confinement_self_test(is_confined)?;
    screen.print_document(&json!(result))
}

/// Runs the hook. Git shows its stderr to the client that pushes.
fn decide_on_push() -> Outcome {
    let environment = HookEnvironment::read(|name| std::env::var_os(name));
    match check_push(std::io::stdin().lock(), &environment) {
        Ok(notes) => {
            notes.iter().for_each(|note| Screen::new(false).note(note));
            Outcome::Done
        }
        Err(refusal) => {
            Screen::new(false).note(refusal);
            Outcome::Failed
        }
    }
}
