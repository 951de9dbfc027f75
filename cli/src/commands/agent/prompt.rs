//! System prompts, which are read from files.

use agents::SystemPrompt;

use crate::failure::Failure;
use crate::text_input;

/// Reads a system prompt from a file, or from stdin for `-`.
pub fn read(file: &str) -> anyhow::Result<SystemPrompt> {
    // One byte more than a prompt may have, so that a longer one is refused.
    let text = text_input::read_start(file, SystemPrompt::BYTES_MAX as u64 + 1)?;
    let hint = "shorten the prompt, or move parts of it into instructions of assignments";
    SystemPrompt::parse(&text).map_err(|error| Failure::usage(format!("{file}: {error}"), hint))
}
