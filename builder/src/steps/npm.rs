//! Packages by name, version and hash, from the operator's npm registry.
//!
//! Archives are unpacked, and nothing in them runs: no scripts, no npm.

mod archive;
mod lock;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reqwest::{Client, StatusCode, Url};
use runner::SourceFile;
use serde::Deserialize;
use sha2::{Digest as _, Sha512};

use self::lock::Locked;
use super::download;
use super::manifest::Manifest;
use crate::attestation::{Hash, Package};
use crate::error::{Error, Place};
use crate::progress::Progress;

const STAGE: &str = "dependencies";
const PROJECT_FILE: &str = "package.json";
const ARCHIVE_BYTES_MAX: usize = 32 << 20;
/// Sources of all packages of one tool.
const TOTAL_BYTES_MAX: usize = 64 << 20;

/// What a package says it is.
#[derive(Deserialize)]
struct Identity {
    name: String,
    version: String,
}

/// Fetches packages and keeps them by digest.
#[derive(Debug, Clone)]
pub struct NpmPackages {
    client: Client,
    registry: Option<Arc<str>>,
    cache: PathBuf,
}

impl NpmPackages {
    /// # Errors
    /// When the system's certificates cannot be used.
    pub fn new(registry: Option<&str>, cache_dir: &Path) -> Result<Self, Error> {
        Ok(Self { client: download::client()?, registry: registry.map(Into::into), cache: cache_dir.join("npm") })
    }

    /// All packages that the lock file has for a run, and their sources below `node_modules/`.
    ///
    /// # Errors
    /// With the package and the line of the lock file.
    pub async fn fetch(
        &self,
        manifest: &Manifest,
        files: &BTreeMap<String, Vec<u8>>,
        progress: &Progress,
    ) -> Result<(Vec<Package>, Vec<SourceFile>), Error> {
        let Some(lock) = files.get(lock::FILE) else {
            return if manifest.dependencies.is_empty() { Ok(Default::default()) } else { Err(lock::missing()) };
        };
        let project_file = files.get(PROJECT_FILE).map(Vec::as_slice).unwrap_or_default();
        let (mut packages, mut sources, mut bytes) = (Vec::new(), Vec::new(), 0);
        for locked in lock::parse(lock, project_file)? {
            progress.line(format!("package {}@{}", locked.name, locked.version));
            let files = self.package(&locked).await?;
            bytes += files.iter().map(|file| file.contents.len()).sum::<usize>();
            if bytes > TOTAL_BYTES_MAX {
                let message = format!("makes the dependencies larger than {TOTAL_BYTES_MAX} bytes");
                return Err(refuse("size", &locked, &message));
            }
            let below = |file: SourceFile| SourceFile { path: format!("{}/{}", locked.directory, file.path), ..file };
            sources.extend(files.into_iter().map(below));
            let Locked { name, version, sha512, .. } = locked;
            packages.push(Package { kind: "npm", name, version, hash: Some(Hash::sha512(hex::encode(sha512))) });
        }
        Ok((packages, sources))
    }

    async fn package(&self, locked: &Locked) -> Result<Vec<SourceFile>, Error> {
        let archive = match self.cached(locked) {
            Some(archive) => archive,
            None => self.download(locked).await?,
        };
        let unpacked = tokio::task::spawn_blocking(move || archive::unpack(&archive)).await.map_err(Error::internal)?;
        let checked = unpacked.and_then(|files| is_itself(&files, locked).map(|()| files));
        checked.map_err(|reason| refuse("archive", locked, &format!("is refused: {reason}")))
    }

    fn cached(&self, locked: &Locked) -> Option<Vec<u8>> {
        std::fs::read(self.place(locked)).ok().filter(|archive| is_locked(archive, locked))
    }

    fn place(&self, locked: &Locked) -> PathBuf {
        self.cache.join(hex::encode(locked.sha512))
    }

    async fn download(&self, locked: &Locked) -> Result<Vec<u8>, Error> {
        let archive = self.get(locked, self.url(locked)?).await?;
        if !is_locked(&archive, locked) {
            return Err(refuse("hashes", locked, "does not have the hash in the lock file"));
        }
        download::keep(&self.cache, &hex::encode(locked.sha512), &archive).map_err(Error::internal)?;
        Ok(archive)
    }

    fn url(&self, locked: &Locked) -> Result<Url, Error> {
        let registry = self.registry.as_deref().ok_or_else(|| {
            refuse("registry", locked, "cannot be fetched: this server has no npm registry; its operator sets npm_registry (LATHE_NPM_REGISTRY) to the URL of one")
        })?;
        let text = format!("{}{}", registry.trim_end_matches('/'), lock::archive_path(&locked.name, &locked.version));
        Url::parse(&text).map_err(|error| Error::internal(format!("npm_registry is no URL: {error}")))
    }

    async fn get(&self, locked: &Locked, url: Url) -> Result<Vec<u8>, Error> {
        let failed =
            |error: reqwest::Error| refuse("registry", locked, &format!("cannot be fetched: {}", error.without_url()));
        let answer = self.client.get(url).send().await.map_err(failed)?;
        if answer.status() == StatusCode::NOT_FOUND {
            return Err(refuse("registry", locked, "is not in the npm registry"));
        }
        let body = download::body(answer, ARCHIVE_BYTES_MAX).await.map_err(failed)?;
        body.ok_or_else(|| refuse("size", locked, &format!("is larger than {ARCHIVE_BYTES_MAX} bytes")))
    }
}

/// A hash says which bytes, and not whose they are; what is said of a tool's packages has to be true.
fn is_itself(files: &[SourceFile], locked: &Locked) -> Result<(), String> {
    let file = files.iter().find(|file| file.path == PROJECT_FILE).ok_or("it holds no package.json")?;
    let Identity { name, version } = serde_json::from_slice(&file.contents).map_err(|error| error.to_string())?;
    let is_same = name == locked.name && version == locked.version;
    if is_same { Ok(()) } else { Err(format!("it holds {name}@{version}")) }
}

fn is_locked(archive: &[u8], locked: &Locked) -> bool {
    Sha512::digest(archive).as_slice() == locked.sha512
}

fn refuse(check: &str, locked: &Locked, message: &str) -> Error {
    let message = format!("{}@{} {message}", locked.name, locked.version);
    Error::failed(STAGE, check, message, Place::line(lock::FILE, locked.line))
}
