//! Loads an image or a tool in the child process.

use std::io;
use std::path::Path;

use runner::{Interpreter, Limits};

/// Limits of the guest. Importing a tool with large dependencies takes a few seconds.
pub const LIMITS: Limits = Limits { wall_ms: 30_000, cpu_ms: 30_000, memory_bytes: 256 << 20, ..Limits::DEFAULT };

/// Loads compiled code and runs `work` with it.
pub fn with_loaded<T>(
    code: &Path,
    work: impl AsyncFnOnce(Interpreter) -> Result<T, runner::Error>,
) -> io::Result<Result<T, runner::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // SAFETY: the parent names an open file, which it has verified.
    let loaded = unsafe { Interpreter::load(code) };
    Ok(loaded.and_then(|loaded| runtime.block_on(work(loaded))))
}
