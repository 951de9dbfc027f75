//! A crate's files on a disk, for cargo to read.

use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use flate2::read::GzDecoder;
use tar::{Archive, EntryType};

use super::disk;
use super::lock::Pinned;

/// Of one crate; generated bindings have a few thousand.
const FILES_MAX: usize = 10_000;

#[derive(Debug)]
pub enum Problem {
    /// The crate is not what crates are.
    Refused(String),
    Disk(io::Error),
}

/// Unpacks a crate below `vendor`, and says how many bytes that took.
///
/// # Errors
/// What is wrong with the crate, or with the disk.
pub fn unpack(bytes: &[u8], pinned: &Pinned, vendor: &Path, bytes_max: u64) -> Result<u64, Problem> {
    let refuse = |reason: String| Problem::Refused(reason);
    let unreadable = |error: io::Error| refuse(error.to_string());
    let top = pinned.directory();
    let mut left = bytes_max;
    // Headers are as small as they are many.
    let readable = GzDecoder::new(bytes).take(bytes_max.saturating_add((FILES_MAX as u64) << 10));
    let mut archive = Archive::new(readable);
    for (number, entry) in archive.entries().map_err(unreadable)?.enumerate() {
        let mut entry = entry.map_err(unreadable)?;
        if number == FILES_MAX {
            return Err(refuse(format!("it has more than {FILES_MAX} files")));
        }
        let path = entry.path().map_err(unreadable)?.into_owned();
        let below = inside(&path, &top).ok_or_else(|| refuse(format!("it holds the path {:?}", path.display())))?;
        match entry.header().entry_type() {
            EntryType::Regular => {}
            EntryType::Directory => continue,
            kind => return Err(refuse(format!("{} is no regular file ({kind:?})", path.display()))),
        }
        if entry.size() > left {
            return Err(refuse(format!("with it the crates are larger than {bytes_max} bytes")));
        }
        left -= entry.size();
        let mut file = disk::create(vendor, &Path::new(&top).join(below)).map_err(Problem::Disk)?;
        io::copy(&mut entry, &mut file).map_err(unreadable)?;
    }
    // The whole was compared with its checksum, so that none is needed for its files.
    let checksums = format!("{{\"files\":{{}},\"package\":\"{}\"}}", pinned.checksum.to_hex());
    let mut file = disk::create(vendor, &Path::new(&top).join(".cargo-checksum.json")).map_err(unreadable)?;
    file.write_all(checksums.as_bytes()).map_err(Problem::Disk)?;
    Ok(bytes_max - left)
}

/// The path below the crate's own directory.
fn inside(path: &Path, top: &str) -> Option<PathBuf> {
    let below = path.strip_prefix(top).ok()?;
    below.components().all(|part| matches!(part, Component::Normal(_))).then(|| below.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use registry::Digest;
    use tar::{Builder, Header};

    use super::*;

    fn packed(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
        let mut archive = Builder::new(Vec::new());
        for (path, kind, bytes) in entries {
            let mut header = Header::new_gnu();
            header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
            header.set_entry_type(*kind);
            header.set_size(bytes.len() as u64);
            header.set_mode(0o777);
            header.set_cksum();
            archive.append(&header, *bytes).unwrap();
        }
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&archive.into_inner().unwrap()).unwrap();
        encoder.finish().unwrap()
    }

    fn check(entries: &[(&str, EntryType, &[u8])], bytes_max: u64) -> Result<tempfile::TempDir, String> {
        let pinned = Pinned { name: "a".into(), version: "1.0.0".into(), checksum: Digest::of(b"a"), line: 1 };
        let vendor = tempfile::tempdir().unwrap();
        match unpack(&packed(entries), &pinned, vendor.path(), bytes_max) {
            Ok(_) => Ok(vendor),
            Err(Problem::Refused(reason)) => Err(reason),
            Err(Problem::Disk(error)) => panic!("{error}"),
        }
    }

    #[test]
    fn files_are_unpacked_with_the_checksum_of_the_whole() {
        let vendor = check(&[("a-1.0.0/src/lib.rs", EntryType::Regular, b"//! a")], 10).unwrap();
        assert_eq!(fs::read(vendor.path().join("a-1.0.0/src/lib.rs")).unwrap(), b"//! a");
        let checksums = fs::read_to_string(vendor.path().join("a-1.0.0/.cargo-checksum.json")).unwrap();
        assert!(checksums.contains(&Digest::of(b"a").to_hex()), "{checksums}");
    }

    #[test]
    fn what_is_no_crate_is_refused() {
        let refused = |path: &str, kind, expected: &str| {
            let reason = check(&[(path, kind, b"")], 10).unwrap_err();
            assert!(reason.contains(expected), "{reason}");
        };
        refused("b-1.0.0/lib.rs", EntryType::Regular, "it holds the path");
        refused("a-1.0.0/../b", EntryType::Regular, "it holds the path");
        refused("/a-1.0.0/b", EntryType::Regular, "it holds the path");
        refused("a-1.0.0/b", EntryType::Symlink, "no regular file");
        refused("a-1.0.0/b", EntryType::Link, "no regular file");
        let large = check(&[("a-1.0.0/b", EntryType::Regular, &[0; 11])], 10).unwrap_err();
        assert!(large.contains("larger than 10 bytes"), "{large}");
    }
}
