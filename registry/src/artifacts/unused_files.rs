//! Finding and deleting files of artifacts that no version refers to, also beside a running server.
//!
//! A publication stores its artifacts, or renews the time of those that are stored already, and inserts its version after that.
//! Only artifacts whose time is older than any publication takes are deleted. The file is moved aside, and its time read again,
//! before it is deleted: a publication that renewed it before gets it back, and one that comes later stores it again.
//!
//! A publication that is killed while it stores an artifact leaves a temporary file, which a running server deletes later.

use std::collections::HashSet;
use std::fs::{self, DirEntry};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::directory::{ArtifactDirectory, path_of};
use super::unused_artifact::UnusedArtifact;
use crate::error::Result;
use crate::files::blocking::off_the_runtime;
use crate::files::durable::{add_path, is_temporary_name, make_temporary_name};
use crate::kit::clock::Timestamp;
use crate::kit::digest::Digest;

impl ArtifactDirectory {
    /// Lists the artifacts that are not among `used` and were neither stored nor renewed since `before`.
    pub async fn find_unused(&self, used: HashSet<Digest>, before: Timestamp) -> Result<Vec<UnusedArtifact>> {
        let root = self.root().to_owned();
        off_the_runtime(move || {
            let folders = read_files(&root)?.into_iter().filter(|folder| folder.path().is_dir());
            let mut unused = Vec::new();
            for folder in folders {
                let found = read_files(&folder.path())?.into_iter().filter_map(|file| parse_old(&file, before));
                unused.extend(found.filter(|artifact| !used.contains(&artifact.digest)));
            }
            Ok(unused)
        })
        .await
    }

    /// Deletes an artifact that was neither stored nor renewed since `before`. Returns whether it did.
    pub async fn delete_unused(&self, digest: &Digest, before: Timestamp) -> Result<bool> {
        let path = path_of(self.root(), digest);
        off_the_runtime(move || delete(&path, before)).await
    }

    /// Deletes the temporary files of publications that were killed. They last changed before `before`: writing an artifact
    /// takes seconds. Returns their number.
    pub async fn delete_unfinished(&self, before: Timestamp) -> Result<u64> {
        let root = self.root().to_owned();
        off_the_runtime(move || {
            let mut deleted = 0;
            for folder in read_files(&root)?.into_iter().filter(|folder| folder.path().is_dir()) {
                for file in read_files(&folder.path())?.iter().filter(|file| is_unfinished(file, before)) {
                    add_path(&file.path(), fs::remove_file(file.path()))?;
                    deleted += 1;
                }
            }
            Ok(deleted)
        })
        .await
    }
}

/// Whether a file has a temporary name, and has had it since before `before`.
fn is_unfinished(file: &DirEntry, before: Timestamp) -> bool {
    let is_temporary = file.file_name().to_str().is_some_and(is_temporary_name);
    let metadata = file.metadata().ok().filter(fs::Metadata::is_file);
    // The time of the last change of its name or its contents. A file that `delete` moves aside keeps its own time.
    is_temporary && metadata.is_some_and(|metadata| to_timestamp(metadata.ctime(), metadata.ctime_nsec()) < before)
}

fn delete(path: &Path, before: Timestamp) -> Result<bool> {
    let aside = path.with_file_name(make_temporary_name());
    add_path(path, fs::rename(path, &aside))?;
    let metadata = add_path(&aside, fs::metadata(&aside))?;
    if read_time(&metadata) >= before {
        // The same contents, if a publication has stored them again meanwhile.
        return add_path(path, fs::rename(&aside, path)).map(|()| false);
    }
    add_path(&aside, fs::remove_file(&aside)).map(|()| true)
}

/// The artifact of a file, if the file is one and is older than `before`.
fn parse_old(file: &DirEntry, before: Timestamp) -> Option<UnusedArtifact> {
    let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
    let digest = Digest::parse(&format!("sha256:{}", file.file_name().to_str()?)).ok()?;
    (read_time(&metadata) < before).then_some(UnusedArtifact { digest, bytes: metadata.len() })
}

fn read_time(metadata: &fs::Metadata) -> Timestamp {
    to_timestamp(metadata.mtime(), metadata.mtime_nsec())
}

fn to_timestamp(seconds: i64, nanoseconds: i64) -> Timestamp {
    Timestamp::from_milliseconds(seconds.saturating_mul(1_000).saturating_add(nanoseconds / 1_000_000))
}

pub fn read_files(folder: &Path) -> Result<Vec<DirEntry>> {
    let path: PathBuf = folder.to_owned();
    let entries = add_path(&path, fs::read_dir(folder))?;
    entries.map(|entry| add_path(&path, entry)).collect()
}
