//! Unpacks crates for cargo. A header of an entry is read into memory whole, whatever its length, so this runs in a child
//! process only (`documents/child.rs`).

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use flate2::read::GzDecoder;
use nix::sys::time::TimeSpec;
use registry::Digest;
use serde::{Deserialize, Serialize};
use tar::{Archive, EntryType};

use crate::sandbox::files;
use crate::text::quote;

/// Files of one crate; generated bindings have a few thousand.
const FILES_MAX: usize = 10_000;
/// Bytes of a path. The names of the public registry's files are shorter.
const PATH_BYTES_MAX: usize = 1 << 10;
/// Bytes of a crate's manifest; those of the largest bindings have 300 KiB.
const MANIFEST_BYTES_MAX: u64 = 1 << 20;

/// A crate to unpack.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CrateArchive {
    pub path: PathBuf,
    pub checksum: Digest,
    /// The name of its directory: `<name>-<version>`.
    pub directory: String,
}

/// Crates, and the directory for them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Vendoring {
    pub archives: Vec<CrateArchive>,
    pub directory: PathBuf,
    /// Unpacked bytes of all crates, with the headers of their files.
    pub bytes_max: u64,
    /// The modification time of all files, in seconds. Cargo compares it with that of compiled crates.
    pub modified_at: i64,
}

/// The reason why a crate cannot be unpacked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Problem {
    /// The file in the cache has another checksum.
    Damaged,
    /// The archive is not a valid crate.
    Refused(String),
    Disk(String),
}

impl Vendoring {
    /// Unpacks all crates in the format of cargo's directory sources, and reads the manifest of each.
    ///
    /// # Errors
    /// The index of the first crate that cannot be unpacked, with the reason.
    pub fn unpack<T>(&self, read: impl Fn(&str) -> T) -> Result<Vec<T>, (usize, Problem)> {
        let (mut left, mut manifests) = (self.bytes_max, Vec::new());
        let disk = |error| (0, Problem::from_disk(&error));
        files::make_directory(&self.directory).map_err(disk)?;
        for (index, archive) in self.archives.iter().enumerate() {
            let mut unpack = || {
                left = self.unpack_one(archive, left)?;
                Ok(read(&self.read_manifest(archive)?))
            };
            manifests.push(unpack().map_err(|problem| (index, problem))?);
        }
        files::set_times(&self.directory, TimeSpec::new(self.modified_at, 0)).map_err(disk)?;
        Ok(manifests)
    }

    /// Unpacks a crate, and returns how many of the readable bytes are left.
    fn unpack_one(&self, archive: &CrateArchive, left: u64) -> Result<u64, Problem> {
        let bytes = fs::read(&archive.path).map_err(|error| Problem::from_disk(&error))?;
        if Digest::of(&bytes) != archive.checksum {
            return Err(Problem::Damaged);
        }
        let mut readable = Archive::new(GzDecoder::new(&*bytes).take(left));
        let unpacked = self.unpack_entries(archive, &mut readable);
        // The end of the readable bytes looks like the end of the archive.
        match readable.into_inner().limit() {
            0 => Err(Problem::Refused(format!("the crates of a tool exceed {} bytes together", self.bytes_max))),
            left => unpacked.map(|()| left),
        }
    }

    fn unpack_entries(&self, crate_: &CrateArchive, archive: &mut Archive<impl Read>) -> Result<(), Problem> {
        let top = Path::new(&crate_.directory);
        for (number, entry) in archive.entries().map_err(unreadable)?.enumerate() {
            let mut entry = entry.map_err(unreadable)?;
            if number == FILES_MAX {
                return Err(Problem::Refused(format!("it has more than {FILES_MAX} files")));
            }
            let path = entry.path().map_err(unreadable)?.into_owned();
            let shown = quote(&path.to_string_lossy());
            let below = strip_top(&path, top).ok_or_else(|| {
                Problem::Refused(format!("it contains the path {shown}, outside of the crate's directory or too long"))
            })?;
            match entry.header().entry_type() {
                EntryType::Regular => {}
                EntryType::Directory => continue,
                kind => return Err(Problem::Refused(format!("{shown} is not a regular file ({kind:?})"))),
            }
            let mut file = self.create(&top.join(below))?;
            io::copy(&mut entry, &mut file).map_err(unreadable)?;
        }
        // The archive's checksum was compared, so that its files need none.
        let checksums = format!("{{\"files\":{{}},\"package\":\"{}\"}}", crate_.checksum.to_hex());
        let mut file = self.create(&top.join(".cargo-checksum.json"))?;
        file.write_all(checksums.as_bytes()).map_err(|error| Problem::from_disk(&error))
    }

    fn create(&self, path: &Path) -> Result<File, Problem> {
        files::create(&self.directory, path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Problem::Refused("it contains a file twice".into()),
            _ => Problem::from_disk(&error),
        })
    }

    fn read_manifest(&self, crate_: &CrateArchive) -> Result<String, Problem> {
        let unreadable = || Problem::Refused("its Cargo.toml is missing, not UTF-8, or larger than 1 MiB".into());
        let file = File::open(self.directory.join(&crate_.directory).join("Cargo.toml")).map_err(|_| unreadable())?;
        let mut text = String::new();
        file.take(MANIFEST_BYTES_MAX + 1).read_to_string(&mut text).map_err(|_| unreadable())?;
        if text.len() as u64 > MANIFEST_BYTES_MAX { Err(unreadable()) } else { Ok(text) }
    }
}

impl Problem {
    fn from_disk(error: &io::Error) -> Self {
        Self::Disk(error.to_string())
    }
}

fn unreadable(error: io::Error) -> Problem {
    Problem::Refused(error.to_string())
}

/// The path below the crate's directory `top`.
fn strip_top(path: &Path, top: &Path) -> Option<PathBuf> {
    let below = path.strip_prefix(top).ok()?;
    let is_plain =
        path.as_os_str().len() <= PATH_BYTES_MAX && below.components().all(|part| matches!(part, Component::Normal(_)));
    is_plain.then(|| below.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;
    use crate::fuzz::crate_archive;

    type Entry<'e> = (&'e str, EntryType, &'e [u8]);

    /// Unpacks the crates `a`, `b`, … of version 1.0.0.
    fn unpack(crates: &[&[Entry<'_>]], bytes_max: u64) -> Result<tempfile::TempDir, (usize, Problem)> {
        let directory = tempfile::tempdir().unwrap();
        let archive = |(name, entries): (char, &&[Entry<'_>])| {
            let bytes = crate_archive(entries);
            let path = directory.path().join(name.to_string());
            fs::write(&path, &bytes).unwrap();
            CrateArchive { path, checksum: Digest::of(&bytes), directory: format!("{name}-1.0.0") }
        };
        let archives = ('a'..).zip(crates).map(archive).collect();
        let vendor = directory.path().join("vendor");
        Vendoring { archives, directory: vendor, bytes_max, modified_at: 1_000 }.unpack(str::len)?;
        Ok(directory)
    }

    fn assert_refused(crates: &[&[Entry<'_>]], bytes_max: u64, expected: &str) {
        match unpack(crates, bytes_max) {
            Err((index, Problem::Refused(reason))) => {
                assert!(reason.contains(expected) && reason.len() < 1_000, "{reason:.1000}");
                assert_eq!(index, crates.len() - 1);
            }
            other => panic!("{other:?}"),
        }
    }

    const MANIFEST: Entry<'_> = ("a-1.0.0/Cargo.toml", EntryType::Regular, b"[package]");

    #[test]
    fn files_are_unpacked_with_the_checksum_of_the_archive() {
        let entries = [MANIFEST, ("a-1.0.0/src/lib.rs", EntryType::Regular, b"//! a")];
        let directory = unpack(&[&entries], 1 << 20).unwrap();
        let vendor = directory.path().join("vendor/a-1.0.0");
        assert_eq!(fs::read(vendor.join("src/lib.rs")).unwrap(), b"//! a");
        assert_eq!(fs::metadata(vendor.join("src/lib.rs")).unwrap().mtime(), 1_000);
        let checksums = fs::read_to_string(vendor.join(".cargo-checksum.json")).unwrap();
        assert!(checksums.contains(&Digest::of(&crate_archive(&entries)).to_hex()), "{checksums}");
    }

    #[test]
    fn archives_that_are_not_crates_are_refused() {
        let refused =
            |path: &str, kind, expected: &str| assert_refused(&[&[MANIFEST, (path, kind, b"")]], 1 << 20, expected);
        refused("b-1.0.0/lib.rs", EntryType::Regular, "it contains the path");
        refused("a-1.0.0/../b", EntryType::Regular, "it contains the path");
        refused("/a-1.0.0/b", EntryType::Regular, "it contains the path");
        refused("a-1.0.0/b", EntryType::Symlink, "not a regular file");
        refused("a-1.0.0/b", EntryType::Link, "not a regular file");
        refused("a-1.0.0/Cargo.toml", EntryType::Regular, "a file twice");
        self::assert_refused(&[&[]], 1 << 20, "Cargo.toml is missing");
    }

    /// Not only the contents of files count, but also headers, directories and long names.
    #[test]
    fn all_crates_share_one_bound() {
        let other = [("b-1.0.0/Cargo.toml", EntryType::Regular, &b"[package]"[..])];
        let directories = vec![("b-1.0.0/a", EntryType::Directory, &b""[..]); 100];
        let (large, long) = (vec![b' '; 50_000], [&b"b-1.0.0/"[..], &[b'a'; 50_000]].concat());
        let contents = [("b-1.0.0/b", EntryType::Regular, &*large)];
        let name = [("././@LongLink", EntryType::GNULongName, &*long), ("b-1.0.0/c", EntryType::Regular, b"")];
        unpack(&[&[MANIFEST], &other], 10_000).unwrap();
        for entries in [&directories[..], &contents, &name] {
            let both = [&other, entries].concat();
            assert_refused(&[&[MANIFEST], &both], 10_000, "exceed 10000 bytes together");
        }
        assert_refused(
            &[&[MANIFEST], &[&other[..], &name].concat()],
            1 << 20,
            "outside of the crate's directory or too long",
        );
    }

    #[test]
    fn a_damaged_file_of_the_cache_is_reported() {
        let archive =
            CrateArchive { path: "/dev/null".into(), checksum: Digest::of(b"a"), directory: "a-1.0.0".into() };
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path().to_owned();
        let vendoring = Vendoring { archives: vec![archive], directory, bytes_max: 1, modified_at: 0 };
        assert_eq!(vendoring.unpack(str::len), Err((0, Problem::Damaged)));
    }
}
