//! Questions on the terminal.

use std::io::{IsTerminal, Write};

use anyhow::Context;
use nix::sys::termios::{self, LocalFlags, SetArg, Termios};

use crate::failure::Failure;

/// Asks without showing what is typed.
pub fn hidden(question: &str) -> anyhow::Result<String> {
    eprint_now(question);
    let quiet = Quiet::start()?;
    let line = read_line();
    drop(quiet);
    eprint_now("\n");
    line
}

/// Asks for a yes; anything else, and no terminal to ask on, is a no.
pub fn confirm(question: &str, hint: &str) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage("this needs a confirmation, and there is no terminal to ask on", hint));
    }
    eprint_now(&format!("{question} [y/N] "));
    Ok(matches!(read_line()?.trim(), "y" | "Y" | "yes"))
}

fn read_line() -> anyhow::Result<String> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).context("reading the answer")?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

fn eprint_now(text: &str) {
    let mut stderr = std::io::stderr();
    // A closed stderr shows no question; the answer is read all the same.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// Turns the terminal's echo off for as long as it lives.
struct Quiet {
    before: Termios,
}

impl Quiet {
    fn start() -> anyhow::Result<Self> {
        let before = termios::tcgetattr(std::io::stdin()).context("asking the terminal for its settings")?;
        let mut quiet = before.clone();
        quiet.local_flags.remove(LocalFlags::ECHO);
        termios::tcsetattr(std::io::stdin(), SetArg::TCSAFLUSH, &quiet).context("turning the echo off")?;
        Ok(Self { before })
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // Nothing can be done for a terminal that has gone.
        let _ = termios::tcsetattr(std::io::stdin(), SetArg::TCSAFLUSH, &self.before);
    }
}
