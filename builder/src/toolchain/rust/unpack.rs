//! Unpacks crates for cargo.

use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use flate2::read::GzDecoder;
use tar::{Archive, EntryType};

use super::disk;
use super::lock::Pinned;

/// Files of one crate; generated bindings have a few thousand.
const FILES_MAX: usize = 10_000;

#[derive(Debug)]
pub enum UnpackError {
    /// The archive is not a valid crate.
    Refused(String),
    Disk(io::Error),
}

/// The unpacking of one crate.
#[derive(Debug, Clone, Copy)]
pub struct Unpack<'a> {
    pub pinned: &'a Pinned,
    /// The directory of all crates.
    pub vendor: &'a Path,
    pub bytes_max: u64,
}

impl Unpack<'_> {
    /// Unpacks an archive, and returns the bytes of its files.
    ///
    /// # Errors
    /// The reason why the crate is refused, or the disk's error.
    pub fn run(self, bytes: &[u8]) -> Result<u64, UnpackError> {
        let Self { pinned, vendor, bytes_max } = self;
        let refuse = |reason: String| UnpackError::Refused(reason);
        let unreadable = |error: io::Error| refuse(error.to_string());
        let top = pinned.directory();
        let mut left = bytes_max;
        // The files and a header of 1 KiB for each bound what is read.
        let readable = GzDecoder::new(bytes).take(bytes_max.saturating_add((FILES_MAX as u64) << 10));
        let mut archive = Archive::new(readable);
        for (number, entry) in archive.entries().map_err(unreadable)?.enumerate() {
            let mut entry = entry.map_err(unreadable)?;
            if number == FILES_MAX {
                return Err(refuse(format!("it has more than {FILES_MAX} files")));
            }
            let path = entry.path().map_err(unreadable)?.into_owned();
            let below = inside(&path, &top).ok_or_else(|| {
                refuse(format!("it contains the path {:?}, outside of the crate's directory", path.display()))
            })?;
            match entry.header().entry_type() {
                EntryType::Regular => {}
                EntryType::Directory => continue,
                kind => return Err(refuse(format!("{} is not a regular file ({kind:?})", path.display()))),
            }
            if entry.size() > left {
                return Err(refuse(format!("its files exceed the {bytes_max} bytes that are left for crates")));
            }
            left -= entry.size();
            let mut file = disk::create(vendor, &Path::new(&top).join(below)).map_err(UnpackError::Disk)?;
            io::copy(&mut entry, &mut file).map_err(unreadable)?;
        }
        // The archive's checksum was compared, so that its files need none.
        let checksums = format!("{{\"files\":{{}},\"package\":\"{}\"}}", pinned.checksum.to_hex());
        let mut file = disk::create(vendor, &Path::new(&top).join(".cargo-checksum.json")).map_err(unreadable)?;
        file.write_all(checksums.as_bytes()).map_err(UnpackError::Disk)?;
        Ok(bytes_max - left)
    }
}

/// The path below the crate's directory `top`.
fn inside(path: &Path, top: &str) -> Option<PathBuf> {
    let below = path.strip_prefix(top).ok()?;
    below.components().all(|part| matches!(part, Component::Normal(_))).then(|| below.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use registry::Digest;

    use super::*;
    use crate::fuzz::crate_archive;

    fn check(entries: &[(&str, EntryType, &[u8])], bytes_max: u64) -> Result<tempfile::TempDir, String> {
        let pinned = Pinned { name: "a".into(), version: "1.0.0".into(), checksum: Digest::of(b"a"), line: 1 };
        let vendor = tempfile::tempdir().unwrap();
        match (Unpack { pinned: &pinned, vendor: vendor.path(), bytes_max }).run(&crate_archive(entries)) {
            Ok(_) => Ok(vendor),
            Err(UnpackError::Refused(reason)) => Err(reason),
            Err(UnpackError::Disk(error)) => panic!("{error}"),
        }
    }

    #[test]
    fn files_are_unpacked_with_the_checksum_of_the_archive() {
        let vendor = check(&[("a-1.0.0/src/lib.rs", EntryType::Regular, b"//! a")], 10).unwrap();
        assert_eq!(fs::read(vendor.path().join("a-1.0.0/src/lib.rs")).unwrap(), b"//! a");
        let checksums = fs::read_to_string(vendor.path().join("a-1.0.0/.cargo-checksum.json")).unwrap();
        assert!(checksums.contains(&Digest::of(b"a").to_hex()), "{checksums}");
    }

    #[test]
    fn archives_that_are_not_crates_are_refused() {
        let refused = |path: &str, kind, expected: &str| {
            let reason = check(&[(path, kind, b"")], 10).unwrap_err();
            assert!(reason.contains(expected), "{reason}");
        };
        refused("b-1.0.0/lib.rs", EntryType::Regular, "it contains the path");
        refused("a-1.0.0/../b", EntryType::Regular, "it contains the path");
        refused("/a-1.0.0/b", EntryType::Regular, "it contains the path");
        refused("a-1.0.0/b", EntryType::Symlink, "not a regular file");
        refused("a-1.0.0/b", EntryType::Link, "not a regular file");
        let large = check(&[("a-1.0.0/b", EntryType::Regular, &[0; 11])], 10).unwrap_err();
        assert!(large.contains("exceed the 10 bytes"), "{large}");
    }
}
