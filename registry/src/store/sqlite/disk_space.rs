//! Whether the database has space for writes.

use std::path::{Path, PathBuf};

use nix::sys::resource::{Resource, getrlimit};
use nix::sys::statvfs::statvfs;

pub(super) struct DiskSpace {
    database: PathBuf,
    /// The lower of the system's and the operator's limit for one file.
    file_bytes_max: u64,
}

impl DiskSpace {
    pub fn of(database: PathBuf, bytes_max: Option<u64>) -> Self {
        let system_limit = getrlimit(Resource::RLIMIT_FSIZE).map_or(0, |(soft, _)| soft);
        Self { database, file_bytes_max: bytes_max.unwrap_or(u64::MAX).min(system_limit) }
    }

    /// Returns whether this many bytes are free. A disk that cannot be queried counts as full.
    pub fn has(&self, bytes: u64) -> bool {
        let used = std::fs::metadata(&self.database).map_or(u64::MAX, |file| file.len());
        let left = self.file_bytes_max.saturating_sub(used);
        left.min(self.database.parent().map_or(0, read_free_bytes)) >= bytes
    }
}

fn read_free_bytes(folder: &Path) -> u64 {
    statvfs(folder).map_or(0, |disk| disk.blocks_available().saturating_mul(disk.fragment_size()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: u64 = 16 << 20;

    fn has_bytes(used: u64, bytes_max: Option<u64>) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lathe.db");
        std::fs::File::create(&path).unwrap().set_len(used).unwrap();
        DiskSpace::of(path, bytes_max).has(BYTES)
    }

    #[test]
    fn both_the_disk_and_the_limit_count() {
        assert!(has_bytes(0, None), "this test needs a disk with {BYTES} bytes free");
        assert!(has_bytes(1 << 20, Some(BYTES + (1 << 20))));
        assert!(!has_bytes((1 << 20) + 1, Some(BYTES + (1 << 20))));
        assert!(!has_bytes(2 << 20, Some(1 << 20)), "the file exceeds its limit");
        assert!(!DiskSpace::of("/nowhere/lathe.db".into(), None).has(BYTES));
    }
}
