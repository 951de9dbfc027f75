//! System prompts, which are read from files.

use std::io::Read;

use anyhow::Context;
use registry::SystemPrompt;

use crate::failure::Failure;

/// Reads a system prompt from a file, or from stdin for `-`.
pub fn read(file: &str) -> anyhow::Result<SystemPrompt> {
    let mut text = String::new();
    // One byte more than a prompt may have, so that a longer one is refused.
    let bytes_max = SystemPrompt::BYTES_MAX as u64 + 1;
    if file == "-" {
        std::io::stdin().take(bytes_max).read_to_string(&mut text).context("reading the prompt from stdin")?;
    } else {
        let opened = std::fs::File::open(file).with_context(|| format!("opening {file}"))?;
        opened.take(bytes_max).read_to_string(&mut text).with_context(|| format!("reading {file}"))?;
    }
    let hint = "shorten the prompt, or move parts of it into instructions of assignments";
    SystemPrompt::parse(&text).map_err(|error| Failure::usage(format!("{file}: {error}"), hint))
}
