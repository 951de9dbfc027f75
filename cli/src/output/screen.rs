//! Where a command's answer goes.

use std::io::Write;

use serde::Serialize;

/// The two outputs of a command: its answer on stdout, messages on stderr.
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

    /// One line of the answer for people.
    pub fn line(self, line: impl std::fmt::Display) -> anyhow::Result<()> {
        let mut stdout = anstream::stdout().lock();
        writeln!(stdout, "{line}")?;
        stdout.flush()?;
        Ok(())
    }

    /// The answer byte for byte, for another program.
    pub fn verbatim(self, text: &str) -> anyhow::Result<()> {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()?;
        Ok(())
    }

    /// The whole answer as one JSON document.
    pub fn document(self, document: &impl Serialize) -> anyhow::Result<()> {
        self.line(serde_json::to_string_pretty(document)?)
    }

    /// The answer in the form that was asked for.
    pub fn answer(self, document: &impl Serialize, people: impl FnOnce() -> String) -> anyhow::Result<()> {
        if self.is_json { self.document(document) } else { self.line(people()) }
    }

    /// A message beside the answer. A closed stderr is no reason to stop.
    pub fn note(self, line: impl std::fmt::Display) {
        let _ = writeln!(anstream::stderr().lock(), "{line}");
    }
}
