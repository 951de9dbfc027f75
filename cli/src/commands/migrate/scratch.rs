//! Temporary files of a migration.

use anyhow::Context;
use tempfile::TempDir;

/// A directory for files that are deleted at the end.
pub fn create_scratch() -> anyhow::Result<TempDir> {
    let made = tempfile::Builder::new().prefix("lathe-migrate-").tempdir();
    made.with_context(|| {
        format!("creating a directory in {}; TMPDIR names another one", std::env::temp_dir().display())
    })
}
