//! Whether what the journal takes will find room in the database.

use std::path::{Path, PathBuf};

use nix::sys::resource::{Resource, getrlimit};
use nix::sys::statvfs::statvfs;

use super::sql::open::Database;

/// More than a full journal adds to the database and to its log.
const AMPLE_BYTES: u64 = 64 << 20;

pub(super) struct Room {
    database: PathBuf,
    /// What the system or the operator lets one file have.
    file_bytes_max: u64,
}

impl Room {
    pub fn of(database: &Database) -> Self {
        let of_the_system = getrlimit(Resource::RLIMIT_FSIZE).map_or(0, |(soft, _)| soft);
        let file_bytes_max = database.bytes_max.unwrap_or(u64::MAX).min(of_the_system);
        Self { database: database.path.clone(), file_bytes_max }
    }

    /// A disk that does not tell has none.
    pub fn is_ample(&self) -> bool {
        let used = std::fs::metadata(&self.database).map_or(u64::MAX, |file| file.len());
        let left = self.file_bytes_max.saturating_sub(used);
        left.min(self.database.parent().map_or(0, free)) >= AMPLE_BYTES
    }
}

fn free(folder: &Path) -> u64 {
    statvfs(folder).map_or(0, |disk| disk.blocks_available().saturating_mul(disk.fragment_size()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(bytes: u64, bytes_max: Option<u64>) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lathe.db");
        std::fs::File::create(&path).unwrap().set_len(bytes).unwrap();
        Room::of(&Database { path, bytes_max }).is_ample()
    }

    #[test]
    fn room_is_what_the_disk_and_the_bound_leave() {
        assert!(room(0, None), "this test needs a disk with {AMPLE_BYTES} bytes free");
        assert!(room(1 << 20, Some(AMPLE_BYTES + (1 << 20))));
        assert!(!room((1 << 20) + 1, Some(AMPLE_BYTES + (1 << 20))));
        assert!(!room(2 << 20, Some(1 << 20)), "larger than it may be");
        let nowhere = Database { path: "/nowhere/lathe.db".into(), bytes_max: None };
        assert!(!Room::of(&nowhere).is_ample());
    }
}
