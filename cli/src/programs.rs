//! Programs on this machine.

use std::path::PathBuf;

/// A program of the search path.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let candidates = std::env::split_paths(&path).map(|directory| directory.join(name));
    candidates.into_iter().find(|candidate| candidate.is_absolute() && candidate.is_file())
}
