//! The output of a command.

use std::io::Write;

use registry::visible_document;
use serde::Serialize;

use super::text::escape_hidden_with_colours;
use crate::failure::Outcome;

/// The output of a command: its answer on stdout, messages on stderr.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    is_json: bool,
}

impl Screen {
    pub fn new(is_json: bool) -> Self {
        Self { is_json }
    }

    pub fn is_json(self) -> bool {
        self.is_json
    }

    /// Prints one line of the answer. Hidden characters are shown as escapes, whoever wrote the text.
    pub fn print_line(self, line: impl std::fmt::Display) -> anyhow::Result<()> {
        print(&escape_hidden_with_colours(&line.to_string()))
    }

    /// Prints the whole answer of a successful command as one JSON document. Hidden characters are JSON's escapes.
    pub fn print_document(self, document: &impl Serialize) -> anyhow::Result<Outcome> {
        print(&visible_document(&serde_json::to_string_pretty(document)?)).map(|()| Outcome::Done)
    }

    /// Prints the whole answer of a successful command as JSON or as text.
    pub fn answer(self, document: &impl Serialize, text: impl FnOnce() -> String) -> anyhow::Result<Outcome> {
        if self.is_json { self.print_document(document) } else { self.print_line(text()).map(|()| Outcome::Done) }
    }

    /// Prints a message on stderr. A closed stderr is ignored.
    pub fn note(self, line: impl std::fmt::Display) {
        let _ = writeln!(anstream::stderr().lock(), "{}", escape_hidden_with_colours(&line.to_string()));
    }
}

fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = anstream::stdout().lock();
    writeln!(stdout, "{text}")?;
    stdout.flush()?;
    Ok(())
}

/// Prints text byte for byte, for other programs.
pub fn print_verbatim(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

/// Prints bytes as they are, for other programs.
pub fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()?;
    Ok(())
}
