//! Progress of a build: on a terminal a spinner with the current step, elsewhere one line per finished step.

use std::cell::Cell;
use std::io::IsTerminal;
use std::time::Duration;

use api::wire::{BuildLog, BuildStep, BuildStepState};
use indicatif::ProgressBar;

use super::progress::build_spinner;
use super::text::{clip, escape_hidden, escape_hidden_with_colours, render_duration};
use crate::client::Event;

/// Maximum length of a log line beside the spinner, so that it does not wrap on a common terminal.
const LINE_CHARACTERS_MAX: usize = 70;

/// Steps whose log lines stay on a terminal, since authors decide by them.
const KEPT_STEPS: [&str; 3] = ["checks", "gate", "replay"];

/// The beginning of a warning, which stays on a terminal, too.
const WARNING: &str = "warning: ";

pub struct BuildDisplay {
    spinner: Option<ProgressBar>,
    /// Whether the current step's log lines stay.
    keeps_log: Cell<bool>,
}

impl BuildDisplay {
    pub fn start(what: &str) -> Self {
        let spinner = std::io::stderr().is_terminal().then(|| build_spinner(what));
        if spinner.is_none() {
            eprint_line(what);
        }
        Self { spinner, keeps_log: Cell::new(false) }
    }

    pub fn show(&self, event: &Event) {
        match event {
            Event::Step(step) => self.show_step(step),
            Event::Log(BuildLog { line }) => self.log(line),
            _ => {}
        }
    }

    /// Prints a line above the spinner.
    pub fn print_line(&self, line: &str) {
        match &self.spinner {
            Some(spinner) => spinner.suspend(|| eprint_line(line)),
            None => eprint_line(line),
        }
    }

    fn show_step(&self, BuildStep { name, state, duration_ms }: &BuildStep) {
        let name = escape_hidden(name);
        self.keeps_log.set(*state == BuildStepState::Started && KEPT_STEPS.contains(&name.as_str()));
        match (state, &self.spinner) {
            (BuildStepState::Started, Some(spinner)) => spinner.set_message(name),
            (BuildStepState::Started, None) => {}
            (BuildStepState::Finished, _) => {
                let took =
                    duration_ms.map(|duration_ms| format!("  {}", render_duration(Duration::from_millis(duration_ms))));
                self.print_line(&format!("    {name}{}", took.unwrap_or_default()));
            }
        }
    }

    /// Shows a log line: on a terminal until the next one unless it is a warning or the step's lines are kept, elsewhere permanently.
    fn log(&self, line: &str) {
        let line = escape_hidden(line);
        match &self.spinner {
            Some(spinner) if !self.keeps_log.get() && !line.starts_with(WARNING) => {
                spinner.set_message(clip(&line, LINE_CHARACTERS_MAX))
            }
            _ => self.print_line(&format!("    | {line}")),
        }
    }
}

impl Drop for BuildDisplay {
    fn drop(&mut self) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
    }
}

fn eprint_line(line: &str) {
    use std::io::Write;
    let _ = writeln!(anstream::stderr().lock(), "{}", escape_hidden_with_colours(line));
}
