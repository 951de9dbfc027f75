//! `lathe completions`: prints a completion script.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::failure::Outcome;
use crate::output::Screen;

#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell; for bash: lathe completions bash > ~/.local/share/bash-completion/completions/lathe
    shell: Shell,
}

pub fn run(arguments: &CompletionsArguments, command: &mut Command, screen: Screen) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, command, "lathe", &mut script);
    screen.line(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Outcome::Done)
}
