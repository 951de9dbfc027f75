//! The data directory and the ledger of a failed run, kept below the build's directory.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Copies the data directory when the test fails.
pub struct Evidence {
    data: PathBuf,
    name: String,
}

impl Evidence {
    pub fn of(data: &Path, name: String) -> Self {
        Self { data: data.to_owned(), name }
    }
}

impl Drop for Evidence {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&self.name);
        let source = self.data.parent().unwrap_or(&self.data);
        // The name of an earlier failure is used again.
        drop(std::fs::remove_dir_all(&target));
        let copied = Command::new("cp").arg("-r").arg(source).arg(&target).status();
        println!("the data directory, the ledger and the log are in {}: {copied:?}", target.display());
    }
}
