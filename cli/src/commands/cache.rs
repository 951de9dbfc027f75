//! `lathe cache`: the cache of this user, in which local tests keep compiled code and packages.

use std::io;
use std::path::Path;

use anyhow::Context;
use clap::Subcommand;
use serde_json::json;

use crate::failure::Outcome;
use crate::home::Home;
use crate::output::Screen;

const MEBIBYTE: u64 = 1024 * 1024;

#[derive(Debug, Subcommand)]
pub enum CacheCommand {
    /// Show the directory of the cache and its size
    Show,
    /// Delete the contents of the cache; the next local test makes again what it needs
    Clear,
}

pub fn run(command: &CacheCommand, screen: Screen) -> anyhow::Result<Outcome> {
    let directory = Home::find_user_cache()?;
    let bytes = measure(&directory);
    let (path, size) = (directory.display().to_string(), bytes.div_ceil(MEBIBYTE));
    match command {
        CacheCommand::Show => {
            screen.answer(&json!({"directory": path, "bytes": bytes}), || format!("{path}: {size} MiB"))
        }
        CacheCommand::Clear => {
            clear(&directory)?;
            screen
                .answer(&json!({"directory": path, "deleted_bytes": bytes}), || format!("deleted {size} MiB in {path}"))
        }
    }
}

/// Returns the bytes of all files below a directory. A file that another process deletes meanwhile has none.
fn measure(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => measure(&entry.path()),
        Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |metadata| metadata.len()),
        _ => 0,
    });
    bytes.sum()
}

/// Deletes everything in a directory. The directory itself may be a mount.
fn clear(directory: &Path) -> anyhow::Result<()> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.with_context(|| format!("reading {}", directory.display()))?,
    };
    for entry in entries {
        let entry = entry.with_context(|| format!("reading {}", directory.display()))?;
        let (path, kind) = (entry.path(), entry.file_type());
        let is_directory = kind.is_ok_and(|kind| kind.is_dir());
        let removed = if is_directory { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        removed.with_context(|| format!("deleting {}", path.display()))?;
    }
    Ok(())
}
