//! Measures the disk use of a repository's objects.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The disk use below a repository's `objects`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Bytes of all files: packs, indexes, loose objects, and the quarantines of running pushes.
    pub bytes: u64,
    pub packs: usize,
}

/// Measures a repository. Files that vanish meanwhile are not counted.
pub(crate) fn measure_usage(repository: &Path) -> io::Result<Usage> {
    let mut usage = Usage::default();
    usage.add(&repository.join("objects"))?;
    Ok(usage)
}

/// The bytes below a directory.
pub(crate) fn measure_bytes(directory: &Path) -> io::Result<u64> {
    let mut usage = Usage::default();
    usage.add(directory)?;
    Ok(usage.bytes)
}

impl Usage {
    fn add(&mut self, directory: &Path) -> io::Result<()> {
        let entries = fs::read_dir(directory).map(Some).or_else(ignore_gone)?;
        for entry in entries.into_iter().flatten() {
            let entry = entry?;
            let Some(metadata) = entry.metadata().map(Some).or_else(ignore_gone)? else { continue };
            if metadata.is_dir() {
                self.add(&entry.path())?;
            } else {
                self.bytes += metadata.len();
                self.packs += usize::from(entry.path().extension() == Some(OsStr::new("pack")));
            }
        }
        Ok(())
    }
}

/// Ignores a file that has vanished: git removes temporary files at any time.
fn ignore_gone<T>(error: io::Error) -> io::Result<Option<T>> {
    if error.kind() == ErrorKind::NotFound { Ok(None) } else { Err(error) }
}

/// A size with a unit, such as `1.5 GiB`.
pub(crate) fn format_bytes(bytes: u64) -> String {
    const STEP: u64 = 1024;
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let (mut unit, mut size) = (0, 1);
    while bytes / size >= STEP && unit + 1 < units.len() {
        (unit, size) = (unit + 1, size * STEP);
    }
    match (bytes / size, bytes % size * 10 / size) {
        (whole, 0) => format!("{whole} {}", units[unit]),
        (whole, tenths) => format!("{whole}.{tenths} {}", units[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_all_directories_are_counted() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for (path, bytes) in
            [("objects/pack/a.pack", 10), ("objects/pack/a.idx", 5), ("objects/tmp_objdir-x/pack/b.pack", 3)]
        {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, vec![0; bytes]).expect("a file");
        }
        assert_eq!(measure_usage(directory.path()).expect("a usage"), Usage { bytes: 18, packs: 2 });
        assert_eq!(measure_usage(&directory.path().join("absent")).expect("a usage"), Usage::default());
    }

    #[test]
    fn sizes_have_a_unit() {
        let check = |bytes, expect: &str| assert_eq!(format_bytes(bytes), expect);
        check(0, "0 bytes");
        check(1_023, "1023 bytes");
        check(1_024, "1 KiB");
        check(1_536, "1.5 KiB");
        check(50 * 1024 * 1024, "50 MiB");
        check(u64::MAX, "16777215.9 TiB");
    }
}
