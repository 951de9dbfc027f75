//! Progress of a command on a terminal.

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use registry::visible;

use super::text::escape_hidden;

/// Refresh interval of the spinner.
const TICK: Duration = Duration::from_millis(100);

/// A spinner on stderr with a message, until it is dropped. When stderr is not a terminal, only finished steps are shown.
pub struct Spinner {
    spinner: Option<ProgressBar>,
}

impl Spinner {
    pub fn start(what: &str) -> Self {
        Self { spinner: std::io::stderr().is_terminal().then(|| build_spinner(what)) }
    }

    pub fn show(&self, message: impl Display) {
        if let Some(spinner) = &self.spinner {
            spinner.set_message(visible(&message.to_string()));
        }
    }

    /// Shows that a step is finished: on a terminal until the next message, elsewhere as a line.
    pub fn finish_step(&self, line: impl Display) {
        match &self.spinner {
            Some(spinner) => spinner.set_message(visible(&line.to_string())),
            // A closed stderr is ignored.
            None => drop(writeln!(anstream::stderr().lock(), "{}", escape_hidden(&line.to_string()))),
        }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
    }
}

pub(super) fn build_spinner(what: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_prefix(what.to_owned());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {wide_msg} {elapsed}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(TICK);
    bar
}
