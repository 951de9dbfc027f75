//! Bounds on the caches that grow with every package and every component: beyond a bound, the least recently used entries are
//! deleted. Deleted entries are downloaded or compiled again when needed.

use std::collections::HashMap;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use crate::blocking::blocking;

/// Downloaded packages of one kind: some thousand packages.
const PACKAGES_BYTES_MAX: u64 = 1 << 30;
/// Compiled code of components and images, of all releases that use the cache: some forty images and snapshots, or thousands of
/// components.
const COMPILED_BYTES_MAX: u64 = 4 << 30;
/// The directories with a bound, below the cache directory.
const BOUNDS: [(&str, u64); 4] = [
    ("wheels", PACKAGES_BYTES_MAX),
    ("npm", PACKAGES_BYTES_MAX),
    ("crates", PACKAGES_BYTES_MAX),
    ("compiled", COMPILED_BYTES_MAX),
];
/// Builds between two looks at the directories, which read the metadata of every file. The first build of a process looks.
const BUILDS_PER_LOOK: u32 = 32;
/// Directories within each other: a release, and notes of it.
const DEPTH_MAX: usize = 8;

/// The bounded caches of a process. Clones share the count of builds.
#[derive(Clone)]
pub struct CacheBounds {
    directory: Arc<Path>,
    builds: Arc<AtomicU32>,
}

/// The files of one cache entry, which have one name and different extensions.
#[derive(Default)]
struct CachedFiles {
    files: Vec<PathBuf>,
    bytes: u64,
    used: Option<SystemTime>,
}

impl CacheBounds {
    pub fn of(directory: &Path) -> Self {
        Self { directory: directory.into(), builds: Arc::default() }
    }

    /// Counts a build, and deletes entries beyond the bounds now and then. A failure is logged and does no harm.
    pub async fn count_build(&self) {
        if !self.builds.fetch_add(1, Ordering::Relaxed).is_multiple_of(BUILDS_PER_LOOK) {
            return;
        }
        let directory = self.directory.clone();
        let enforced = blocking(move || {
            for (name, bytes_max) in BOUNDS {
                let bytes = enforce(&directory.join(name), bytes_max);
                if bytes > 0 {
                    tracing::info!(cache = name, bytes, "the least recently used entries of a cache are deleted");
                }
            }
        });
        if let Err(error) = enforced.await {
            tracing::warn!(%error, "the caches could not be bounded");
        }
    }
}

/// Deletes the least recently used entries of a directory beyond a number of bytes. Returns the deleted bytes.
fn enforce(directory: &Path, bytes_max: u64) -> u64 {
    let mut found = HashMap::new();
    collect(directory, DEPTH_MAX, &mut found);
    let mut entries: Vec<CachedFiles> = found.into_values().collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.used));
    let (mut kept, mut deleted) = (0_u64, 0);
    for entry in entries {
        kept = kept.saturating_add(entry.bytes);
        if kept > bytes_max {
            deleted += entry.bytes;
            // Another process may have deleted it.
            entry.files.iter().for_each(|file| drop(fs::remove_file(file)));
        }
    }
    deleted
}

/// Adds the entries below a directory, by their path without extensions. What cannot be read is left out.
fn collect(directory: &Path, depth: usize, found: &mut HashMap<PathBuf, CachedFiles>) {
    for file in fs::read_dir(directory).into_iter().flatten().flatten() {
        match file.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => collect(&file.path(), depth - 1, found),
            Ok(kind) if kind.is_file() => drop(add(&file, found)),
            _ => {}
        }
    }
}

fn add(file: &DirEntry, found: &mut HashMap<PathBuf, CachedFiles>) -> io::Result<()> {
    let (path, metadata) = (file.path(), file.metadata()?);
    let used = metadata.modified()?;
    let name = file.file_name();
    let name = name.to_string_lossy();
    // A name that begins with a dot is that of a file that is being written.
    let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(&name);
    let entry = found.entry(path.with_file_name(stem)).or_default();
    entry.bytes += metadata.len();
    entry.used = entry.used.max(Some(used));
    entry.files.push(path);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A file of this size that was last used at this second.
    fn write(directory: &Path, name: &str, bytes: u64, used: u64) {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = fs::File::create(&path).unwrap();
        file.set_len(bytes).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(used)).unwrap();
    }

    fn names(directory: &Path) -> Vec<String> {
        let mut found = HashMap::new();
        collect(directory, DEPTH_MAX, &mut found);
        let files = found.into_values().flat_map(|entry| entry.files);
        let mut names: Vec<_> = files.map(|file| file.strip_prefix(directory).unwrap().display().to_string()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_least_recently_used_entries_beyond_the_bound_are_deleted_whole() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        for (name, bytes, used) in [
            ("48/aa.cwasm", 60, 5),
            ("48/aa.mac", 1, 1),
            ("48/bb.cwasm", 60, 4),
            ("48/bb.mac", 1, 9),
            ("47/cc.cwasm", 30, 3),
            (".tmp", 5, 10),
        ] {
            write(directory, name, bytes, used);
        }
        assert_eq!(enforce(directory, 1_000), 0);
        assert_eq!(enforce(directory, 130), 30, "the entry of another release is the oldest");
        assert_eq!(names(directory), [".tmp", "48/aa.cwasm", "48/aa.mac", "48/bb.cwasm", "48/bb.mac"]);
        assert_eq!(enforce(directory, 70), 61);
        assert_eq!(names(directory), [".tmp", "48/bb.cwasm", "48/bb.mac"], "an entry is as old as its newest file");
        assert_eq!(enforce(&directory.join("missing"), 0), 0);
    }
}
