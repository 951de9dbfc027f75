//! Prompts on the terminal.

use std::io::{IsTerminal, Write};

use anyhow::Context;
use nix::sys::termios::{self, LocalFlags, SetArg, Termios};

use crate::failure::Failure;
use crate::output::escape_hidden;

/// Asks for a line without echo.
pub fn ask_hidden(question: &str) -> anyhow::Result<String> {
    eprint_now(question);
    let echo_off = EchoOff::start()?;
    let line = read_line();
    drop(echo_off);
    eprint_now("\n");
    line
}

/// Asks for a confirmation. Without a terminal this is an error.
pub fn confirm(question: &str, hint: &str) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage("this needs a confirmation, and stdin is not a terminal", hint));
    }
    eprint_now(&format!("{} [y/N] ", escape_hidden(question)));
    Ok(matches!(read_line()?.trim(), "y" | "Y" | "yes"))
}

/// Asks for a line.
pub fn ask(question: &str) -> anyhow::Result<String> {
    eprint_now(&escape_hidden(question));
    read_line()
}

fn read_line() -> anyhow::Result<String> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).context("reading the answer")?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

fn eprint_now(text: &str) {
    let mut stderr = std::io::stderr();
    // A closed stderr does not prevent the answer.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// Turns the terminal's echo off until it is dropped.
struct EchoOff {
    before: Termios,
}

impl EchoOff {
    fn start() -> anyhow::Result<Self> {
        let before = termios::tcgetattr(std::io::stdin()).context("reading the terminal's settings")?;
        let mut quiet = before.clone();
        quiet.local_flags.remove(LocalFlags::ECHO);
        termios::tcsetattr(std::io::stdin(), SetArg::TCSAFLUSH, &quiet).context("turning the terminal's echo off")?;
        Ok(Self { before })
    }
}

impl Drop for EchoOff {
    fn drop(&mut self) {
        // Fails only if the terminal is closed.
        let _ = termios::tcsetattr(std::io::stdin(), SetArg::TCSAFLUSH, &self.before);
    }
}
