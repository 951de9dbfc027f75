//! `lathe completions SHELL`

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::failure::Outcome;
use crate::output::Screen;

#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell, for example `lathe completions bash > ~/.local/share/bash-completion/completions/lathe`
    shell: Shell,
}

pub fn run(arguments: &CompletionsArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "lathe", &mut script);
    screen.line(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Outcome::Done)
}
