//! The local cache of artifacts and of large bodies in a bucket. The least recently used files are deleted beyond its size.
//!
//! A cache that cannot be read or written costs time, and no request fails because of it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::directory::{ArtifactDirectory, path_of};
use super::unused_files::read_files;
use crate::error::{Error, Result};
use crate::files::blocking::off_the_runtime;
use crate::files::durable::{add_path, is_temporary_name};
use crate::kit::clock::Timestamp;
use crate::kit::digest::Digest;

#[derive(Clone, Debug)]
pub struct ArtifactCache {
    files: ArtifactDirectory,
    bytes_max: u64,
}

/// A file of the cache, which sorts by the time of its last use.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct CachedFile {
    used: (i64, i64),
    path: PathBuf,
    bytes: u64,
}

impl ArtifactCache {
    /// Creates the directory, unless nothing is to be cached.
    pub fn open(root: PathBuf, bytes_max: u64) -> Result<Self> {
        let files = if bytes_max == 0 { ArtifactDirectory::at(root) } else { ArtifactDirectory::open(root)? };
        Ok(Self { files, bytes_max })
    }

    /// Returns the bytes, when they are cached and undamaged.
    pub async fn get(&self, digest: &Digest) -> Option<Vec<u8>> {
        match self.files.get(digest).await {
            Ok(bytes) => {
                let bytes = bytes?;
                log(self.files.renew(digest).await.map(|_| ()));
                Some(bytes)
            }
            Err(error) => {
                log(Err(error));
                log(self.remove(digest).await);
                None
            }
        }
    }

    /// Adds bytes, unless they are larger than the cache.
    pub async fn insert(&self, digest: &Digest, bytes: impl AsRef<[u8]> + Send + 'static) {
        if bytes.as_ref().len() as u64 > self.bytes_max {
            return;
        }
        log(self.files.put(digest, bytes).await);
        log(self.evict().await);
    }

    /// Deletes the temporary files of a killed server, which last changed before `before`.
    pub async fn delete_unfinished(&self, before: Timestamp) {
        if !self.files.root().is_dir() {
            return;
        }
        log(self.files.delete_unfinished(before).await.map(|_| ()));
    }

    async fn remove(&self, digest: &Digest) -> Result<()> {
        let path = path_of(self.files.root(), digest);
        off_the_runtime(move || add_path(&path, fs::remove_file(&path))).await
    }

    async fn evict(&self) -> Result<()> {
        let (root, bytes_max) = (self.files.root().to_owned(), self.bytes_max);
        off_the_runtime(move || {
            let mut cached = Vec::new();
            for folder in read_files(&root)?.into_iter().filter(|folder| folder.path().is_dir()) {
                cached.extend(read_files(&folder.path())?.iter().filter_map(read_cached_file));
            }
            cached.sort_unstable();
            let mut bytes: u64 = cached.iter().map(|file| file.bytes).sum();
            for file in cached {
                if bytes <= bytes_max {
                    break;
                }
                bytes -= file.bytes;
                match fs::remove_file(&file.path) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => add_path(&file.path, Err(error))?,
                    _ => {} // Another insertion may have deleted it.
                }
            }
            Ok(())
        })
        .await
    }
}

fn read_cached_file(file: &fs::DirEntry) -> Option<CachedFile> {
    let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
    let is_complete = file.file_name().to_str().is_some_and(|name| !is_temporary_name(name));
    let used = (metadata.mtime(), metadata.mtime_nsec());
    is_complete.then(|| CachedFile { used, path: file.path(), bytes: metadata.len() })
}

fn log(result: Result<()>) {
    match result {
        Ok(()) => {}
        Err(error @ Error::Corrupt { .. }) => {
            tracing::warn!(%error, "a cached artifact is damaged and is fetched again")
        }
        Err(error) => tracing::warn!(%error, "the cache of artifacts fails"),
    }
}
