//! The content of an item: a text, a file or stdin.

use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::Args;

use crate::failure::Failure;
use crate::text_input;

#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct ContentArguments {
    /// The content
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// File with the content; - for stdin
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
}

impl ContentArguments {
    /// Returns the content, if it is given.
    pub fn read(&self) -> anyhow::Result<Option<String>> {
        match (&self.content, self.file.as_deref()) {
            (Some(text), _) => Ok(Some(text.clone())),
            (None, Some("-")) => Ok(Some(text_input::read_stdin()?)),
            (None, Some(file)) => Ok(Some(text_input::read_file(file.as_ref())?)),
            (None, None) => Ok(None),
        }
    }

    /// Returns the content; in Base64 if it is the bytes of a file that is no text, and whether it is.
    pub fn require_text_or_bytes(&self) -> anyhow::Result<(String, bool)> {
        let Some(file) = self.file.as_deref().filter(|file| *file != "-") else { return Ok((self.require()?, false)) };
        let bytes = std::fs::read(file).with_context(|| format!("reading {file}"))?;
        Ok(String::from_utf8(bytes)
            .map_or_else(|error| (STANDARD.encode(error.as_bytes()), true), |text| (text, false)))
    }

    /// Returns the content, or stdin where an argument names it.
    pub fn require_or_stdin(&self, is_stdin: bool) -> anyhow::Result<String> {
        if is_stdin { text_input::read_stdin() } else { self.require() }
    }

    pub fn require(&self) -> anyhow::Result<String> {
        let hint = "give --content TEXT, or --file FILE, which is - for stdin";
        self.read()?.ok_or_else(|| Failure::usage("the content is missing", hint))
    }
}

/// Returns the bytes of a content that is in Base64.
pub fn decode(content: &str) -> anyhow::Result<Vec<u8>> {
    STANDARD.decode(content).context("decoding the content")
}
