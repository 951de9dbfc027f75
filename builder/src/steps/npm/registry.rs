//! Archives from the operator's npm registry, pinned by name, version and hash.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use reqwest::{Client, StatusCode, Url};

use super::lock;
use crate::attestation::Hash;
use crate::blocking::blocking;
use crate::error::Error;
use crate::steps::download::{self, Cached};

const STAGE: &str = "dependencies";
const ARCHIVE_BYTES_MAX: usize = 32 << 20;
/// The next step when the registry does not answer.
const CHECK_REGISTRY: &str = ". Check that the npm registry runs, and that --npm-registry or LATHE_NPM_REGISTRY of `lathe serve` \
                              or `lathe tool test` names it; `lathe doctor` tries it";
const OTHER_FILE: &str = "does not have the hash that pins it: the registry has another file. Run `npm install --package-lock-only` \
                          again with this registry";
/// The next step when the registry has no such package.
const OTHER_REGISTRY: &str = ". Correct its name and version, or name a registry that has it with --npm-registry or \
                              LATHE_NPM_REGISTRY of `lathe serve` or `lathe tool test`";

/// A package of the registry, and the hash of its archive.
#[derive(Debug, Clone)]
pub struct PinnedArchive<'a> {
    pub name: &'a str,
    pub version: &'a str,
    pub sha512: Hash,
}

/// Downloads archives and caches them by hash.
#[derive(Debug, Clone)]
pub struct NpmRegistry {
    client: Client,
    url: Option<Arc<str>>,
    cache: PathBuf,
}

impl NpmRegistry {
    /// # Errors
    /// When the system's certificates cannot be used.
    pub fn new(url: Option<&str>, cache_dir: &Path) -> Result<Self, Error> {
        Ok(Self { client: download::build_client()?, url: url.map(Into::into), cache: cache_dir.join("npm") })
    }

    /// Whether the operator names a registry.
    pub const fn is_named(&self) -> bool {
        self.url.is_some()
    }

    /// The archive, from the cache or the registry. Its hash is that of the pin.
    ///
    /// # Errors
    /// When the archive cannot be downloaded, or is another one, without a location.
    pub async fn fetch_archive(&self, pinned: &PinnedArchive<'_>) -> Result<Vec<u8>, Error> {
        let cached = Cached { directory: self.cache.clone(), hash: pinned.sha512.clone() };
        let read = cached.clone();
        if let Some(archive) = blocking(move || read.read()).await? {
            return Ok(archive);
        }
        let archive = self.download(pinned).await?;
        cached.keep(archive).await?.ok_or_else(|| refuse("hashes", pinned, OTHER_FILE))
    }

    async fn download(&self, pinned: &PinnedArchive<'_>) -> Result<Vec<u8>, Error> {
        let url = self.build_url(pinned)?;
        let failed = |error: reqwest::Error| {
            let reason = download::explain(&url, &error);
            refuse("registry", pinned, &format!("cannot be fetched from {reason}{CHECK_REGISTRY}"))
        };
        let answer = self.client.get(url.clone()).send().await.map_err(failed)?;
        if answer.status() == StatusCode::NOT_FOUND {
            let url = download::show_url(&url);
            let message = format!("is not in the npm registry: {url} is not found{OTHER_REGISTRY}");
            return Err(refuse("registry", pinned, &message));
        }
        let body = download::read_body(answer, ARCHIVE_BYTES_MAX).await.map_err(failed)?;
        body.ok_or_else(|| {
            refuse(
                "size",
                pinned,
                &format!("is larger than {ARCHIVE_BYTES_MAX} bytes, which is the limit; use a smaller package"),
            )
        })
    }

    fn build_url(&self, pinned: &PinnedArchive<'_>) -> Result<Url, Error> {
        let registry = self.url.as_deref().ok_or_else(|| {
            refuse("registry", pinned, "cannot be fetched: no npm registry is set; give one to `lathe tool test` or `lathe serve` with --npm-registry or LATHE_NPM_REGISTRY, for example https://npm.example")
        })?;
        let text =
            format!("{}{}", registry.trim_end_matches('/'), lock::build_archive_path(pinned.name, pinned.version));
        Url::parse(&text).map_err(|error| Error::internal(format!("npm_registry is not a URL: {error}")))
    }
}

fn refuse(check: &str, pinned: &PinnedArchive<'_>, message: &str) -> Error {
    Error::failed(STAGE, check, format!("{}@{} {message}", pinned.name, pinned.version))
}
