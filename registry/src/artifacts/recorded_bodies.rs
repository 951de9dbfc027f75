//! Large bodies of recordings, sealed, in the storage of the artifacts: files `bodies/ab/<sha256>` or objects with such keys.
//!
//! Sealing uses a new nonce, so no two sealed bodies are equal, and no name is used again after its body was deleted. A deletion
//! that arrives late cannot hit a body that is in use.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind as IoErrorKind;

use bytes::Bytes;

use super::cache::ArtifactCache;
use super::directory::{ArtifactDirectory, path_of};
use super::objects::{ObjectEntry, Objects};
use crate::error::{Error, Result};
use crate::files::blocking::off_the_runtime;
use crate::files::durable::add_path;
use crate::kit::clock::Timestamp;
use crate::kit::digest::Digest;

/// The folder of all bodies.
const FOLDER: &str = "bodies";

/// The bodies of an installation; cheap to clone.
#[derive(Clone, Debug)]
pub enum RecordedBodies {
    Directory(ArtifactDirectory),
    Bucket { objects: Objects, cache: ArtifactCache },
}

/// A stored body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredBody {
    pub digest: Digest,
    /// Size of the sealed bytes.
    pub bytes: u64,
}

impl RecordedBodies {
    /// Stores sealed bytes durably, and returns their digest.
    pub async fn put(&self, sealed: Bytes) -> Result<Digest> {
        let hashed = sealed.clone();
        let digest = off_the_runtime(move || Ok(Digest::of(&hashed))).await?;
        match self {
            Self::Directory(directory) => directory.put(&digest, sealed).await?,
            // An object that is there already is of an attempt whose answer was lost.
            Self::Bucket { objects, .. } => drop(objects.create(&build_key(&digest), sealed).await?),
        }
        Ok(digest)
    }

    /// Stores the bytes of a digest again, in place of damaged ones.
    pub async fn replace(&self, digest: &Digest, sealed: Bytes) -> Result<()> {
        match self {
            Self::Directory(directory) => directory.put(digest, sealed).await,
            Self::Bucket { objects, .. } => objects.replace(&build_key(digest), sealed).await,
        }
    }

    /// Reads the bytes of a digest. [`Error::Corrupt`] when the stored bytes do not match the digest.
    pub async fn get(&self, digest: &Digest) -> Result<Option<Vec<u8>>> {
        let (objects, cache) = match self {
            Self::Directory(directory) => return directory.get(digest).await,
            Self::Bucket { objects, cache } => (objects, cache),
        };
        if let Some(sealed) = cache.get(digest).await {
            return Ok(Some(sealed));
        }
        let key = build_key(digest);
        let Some(sealed) = objects.get(&key).await? else { return Ok(None) };
        let (hashed, wanted) = (sealed.clone(), *digest);
        if !off_the_runtime(move || Ok(Digest::of(&hashed) == wanted)).await? {
            let detail = format!("the contents of {}/{key} do not match its digest", objects.url());
            return Err(Error::Corrupt { what: "recorded body", detail });
        }
        cache.insert(digest, sealed.clone()).await;
        Ok(Some(sealed.into()))
    }

    /// Lists the bodies that were stored before `before`.
    pub async fn list(&self, before: Timestamp) -> Result<Vec<StoredBody>> {
        match self {
            Self::Directory(directory) => {
                let found = directory.find_unused(HashSet::new(), before).await?;
                Ok(found.into_iter().map(|file| StoredBody { digest: file.digest, bytes: file.bytes }).collect())
            }
            Self::Bucket { objects, .. } => {
                let found = objects.list(FOLDER).await?;
                Ok(found.iter().filter(|object| object.modified < before).filter_map(parse_stored).collect())
            }
        }
    }

    /// Deletes a body, if it is there.
    pub async fn delete(&self, digest: &Digest) -> Result<()> {
        let path = match self {
            Self::Directory(directory) => path_of(directory.root(), digest),
            Self::Bucket { objects, .. } => return objects.delete(&build_key(digest)).await,
        };
        off_the_runtime(move || match fs::remove_file(&path) {
            Err(error) if error.kind() != IoErrorKind::NotFound => add_path(&path, Err(error)),
            _ => Ok(()),
        })
        .await
    }

    /// Deletes the temporary files of a killed server, which last changed before `before`. Returns their number.
    pub async fn delete_unfinished(&self, before: Timestamp) -> Result<u64> {
        match self {
            Self::Directory(directory) => directory.delete_unfinished(before).await,
            Self::Bucket { .. } => Ok(0),
        }
    }
}

fn build_key(digest: &Digest) -> String {
    let name = digest.to_hex();
    format!("{FOLDER}/{}/{name}", &name[..2])
}

/// The body of an object, or `None` for an object with another key.
fn parse_stored(object: &ObjectEntry) -> Option<StoredBody> {
    let (_, name) = object.key.rsplit_once('/')?;
    let digest = Digest::parse(&format!("sha256:{name}")).ok()?;
    (build_key(&digest) == object.key).then_some(StoredBody { digest, bytes: object.bytes })
}
