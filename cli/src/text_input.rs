//! Texts that users give in files or on stdin.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Context;
use builder::decode_text;

use crate::failure::Failure;

/// The name of stdin in arguments.
const STDIN: &str = "-";
/// Bytes of a text. Larger than the server's limit on a request, so that users see the server's message.
const BYTES_MAX: u64 = 64 << 20;

/// Reads a text from a file.
pub fn read_file(path: &Path) -> anyhow::Result<String> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).with_context(|| format!("reading {name}"))?;
    decode(&name, &bytes)
}

/// Reads a text from stdin, at most [`BYTES_MAX`].
pub fn read_stdin() -> anyhow::Result<String> {
    read_start(STDIN, BYTES_MAX)
}

/// Reads the beginning of a text from a file, or from stdin for `-`.
pub fn read_start(file: &str, bytes_max: u64) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    if file == STDIN {
        std::io::stdin().take(bytes_max).read_to_end(&mut bytes).context("reading stdin")?;
        return decode("stdin", &bytes);
    }
    let opened = File::open(file).with_context(|| format!("opening {file}"))?;
    opened.take(bytes_max).read_to_end(&mut bytes).with_context(|| format!("reading {file}"))?;
    decode(file, &bytes)
}

fn decode(name: &str, bytes: &[u8]) -> anyhow::Result<String> {
    decode_text(bytes).map(str::to_owned).map_err(|problem| {
        let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
        let message = problem.to_string();
        let (what, how) = message.split_once("; ").unwrap_or((&message, "save it as UTF-8"));
        Failure::usage(format!("{name}{line}: {what}"), how)
    })
}
