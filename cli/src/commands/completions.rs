//! `lathe completions`: prints a completion script.

use clap::Args;
use clap_complete::Shell;
use clap_complete::env::Shells;

use super::completion::VARIABLE;
use crate::failure::{Failure, Outcome};
use crate::output::print_verbatim;
use crate::programs;

#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

pub fn run(arguments: &CompletionsArguments) -> anyhow::Result<Outcome> {
    let shell = arguments.shell.to_string();
    let shells = Shells::builtins();
    let completer = shells
        .completer(&shell)
        .ok_or_else(|| Failure::usage(format!("no completions for {shell}"), "use another shell"))?;
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, "lathe", "lathe", &programs::find_own_command(), &mut script)?;
    print_verbatim(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}
