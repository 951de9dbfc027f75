//! Copies of files, with their sizes and digests, and flushing them.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use registry::Digest;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 1 << 20;

/// The size and the digest of a file, with its path in the data directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    pub path: String,
    pub bytes: u64,
    pub digest: Digest,
}

/// Copies a file to a new one that only its owner can read, and flushes it. Creates the new file's directories.
pub fn copy(from: &Path, to: &Path) -> io::Result<(u64, Digest)> {
    if let Some(folder) = to.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut copied = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    let measured = read(&mut File::open(from)?, |bytes| copied.write_all(bytes))?;
    copied.sync_all()?;
    Ok(measured)
}

/// Flushes a file and reads its size and digest.
pub fn measure(path: &Path) -> io::Result<(u64, Digest)> {
    let mut file = File::open(path)?;
    file.sync_all()?;
    read(&mut file, |_| Ok(()))
}

/// Flushes the names in a folder and in all folders below it.
pub fn sync_folders(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    File::open(folder)?.sync_all()
}

fn read(file: &mut File, mut pass: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<(u64, Digest)> {
    let (mut buffer, mut hash, mut bytes) = (vec![0; BUFFER_BYTES], Sha256::new(), 0);
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok((bytes, Digest::from_bytes(hash.finalize().into())));
        }
        hash.update(&buffer[..count]);
        pass(&buffer[..count])?;
        bytes += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_digest_of_its_bytes() {
        let directory = tempfile::tempdir().expect("a directory");
        let (from, to) = (directory.path().join("from"), directory.path().join("below/to"));
        let bytes = vec![7; BUFFER_BYTES + 1];
        std::fs::write(&from, &bytes).expect("a file");
        let expected = (bytes.len() as u64, Digest::of(&bytes));
        assert_eq!(copy(&from, &to).expect("a copy"), expected);
        assert_eq!(measure(&to).expect("a file"), expected);
        assert!(copy(&from, &to).is_err(), "nothing is overwritten");
    }
}
