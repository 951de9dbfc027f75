//! Fetches Python packages by name, version and hash from the operator's package index: over the simple API as JSON
//! (PEP 691), or as HTML if the index has no JSON.
//!
//! Only pure-Python wheels are accepted, so no code of a package runs here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use registry::Digest;
use reqwest::{Client, Url};
use runner::SourceFile;

use super::archive::{Format, Unpacked};
use super::documents::Parser;
use super::download::{self, Cached};
use super::index_page::{self, File, Page};
use super::lock::{self, Pinned};
use super::manifest::Manifest;
use super::wheel::Identity;
use crate::attestation::{Hash, Package};
use crate::blocking::blocking;
use crate::error::{Error, Location};
use crate::progress::Progress;

const STAGE: &str = "dependencies";
const ACCEPT: &str = "application/vnd.pypi.simple.v1+json, text/html;q=0.1";
/// Bytes of a project page. The largest lists a few thousand releases.
const PAGE_BYTES_MAX: usize = 64 << 20;
const WHEEL_BYTES_MAX: usize = 32 << 20;
/// Directories that some packages contain beside their modules.
const NO_MODULES: [&str; 6] = ["docs", "examples", "scripts", "setup", "test", "tests"];
/// Bytes of all packages of one tool, unpacked.
const TOTAL_BYTES_MAX: usize = 64 << 20;

/// The packages of a lock file.
#[derive(Debug, Default)]
pub struct Fetched {
    pub packages: Vec<Package>,
    pub files: Vec<SourceFile>,
    /// The modules of the packages that the project itself declares, which are those that it imports.
    pub imports: Vec<String>,
}

/// Fetches packages and caches them by digest.
#[derive(Debug, Clone)]
pub struct Packages {
    client: Client,
    index: Option<Arc<str>>,
    cache: PathBuf,
    parser: Arc<[String]>,
}

impl Packages {
    /// `parser` is the command of the child that unpacks wheels.
    ///
    /// # Errors
    /// When the system's certificates cannot be used.
    pub fn new(index: Option<&str>, cache_dir: &std::path::Path, parser: &[String]) -> Result<Self, Error> {
        let (client, cache) = (download::client()?, cache_dir.join("wheels"));
        Ok(Self { client, index: index.map(Into::into), cache, parser: parser.into() })
    }

    /// Fetches all packages that the project's lock file pins.
    ///
    /// # Errors
    /// When a package cannot be used, with its name and the line of the lock file.
    pub async fn fetch(
        &self,
        manifest: &Manifest,
        files: &BTreeMap<String, Vec<u8>>,
        progress: &Progress,
    ) -> Result<Fetched, Error> {
        let asked: Vec<_> = manifest.dependencies.iter().filter(|name| *name != lock::OWN_PACKAGE).collect();
        let Some(lock) = files.get(lock::FILE) else {
            let has_uv_lock = files.contains_key("uv.lock");
            return if asked.is_empty() { Ok(Default::default()) } else { Err(lock::missing(has_uv_lock)) };
        };
        let (mut fetched, mut bytes) = (Fetched::default(), 0);
        let lock = lock.clone();
        for pinned in blocking(move || lock::parse(&lock)).await?? {
            progress.line(format!("package {}=={}", pinned.name, pinned.version));
            let (digest, files) = self.package(&pinned).await?;
            bytes += files.iter().map(|file| file.contents.len()).sum::<usize>();
            if bytes > TOTAL_BYTES_MAX {
                return Err(refuse(
                    "size",
                    &pinned,
                    &format!("makes the dependencies larger than {TOTAL_BYTES_MAX} bytes"),
                ));
            }
            if asked.is_empty() || asked.contains(&&pinned.name) {
                fetched.imports.extend(modules(&files));
            }
            fetched.files.extend(files);
            let Pinned { name, version, .. } = pinned;
            let (version, hash) = (version.to_string(), Some(Hash::sha256(digest.to_hex())));
            fetched.packages.push(Package { kind: "pypi", name, version, hash });
        }
        Ok(fetched)
    }

    /// The digest and the files of a package's wheel.
    async fn package(&self, pinned: &Pinned) -> Result<(Digest, Vec<SourceFile>), Error> {
        let (digest, wheel) = match self.read_cached(pinned).await? {
            Some(found) => found,
            None => self.download(pinned).await?,
        };
        let unpacked = Parser { command: &self.parser }.unpack(Format::Wheel, wheel).await?;
        let Unpacked { identity, files } =
            unpacked.map_err(|reason| refuse("pure-python", pinned, &format!("is refused: {reason}")))?;
        // A hash pins only bytes, so the name and version of the lock file must match those in the wheel.
        let pinned_identity = Identity { name: pinned.name.clone(), version: pinned.version.clone() };
        if identity.as_ref() != Some(&pinned_identity) {
            let own = identity.map_or("no package".to_owned(), |identity| identity.to_string());
            let message =
                format!("is refused: the wheel with this hash is {own}; pin it under its own name and version");
            return Err(refuse("identity", pinned, &message));
        }
        Ok((digest, files))
    }

    async fn read_cached(&self, pinned: &Pinned) -> Result<Option<(Digest, Vec<u8>)>, Error> {
        let cached: Vec<_> = pinned.hashes.iter().map(|digest| (*digest, self.cached(digest))).collect();
        blocking(move || cached.into_iter().find_map(|(digest, cached)| Some((digest, cached.read()?)))).await
    }

    fn cached(&self, digest: &Digest) -> Cached {
        Cached { directory: self.cache.clone(), hash: Hash::sha256(digest.to_hex()) }
    }

    async fn download(&self, pinned: &Pinned) -> Result<(Digest, Vec<u8>), Error> {
        let page = self.page(pinned).await?;
        let (url, digest) = choose(pinned, &page)?;
        let base = self.page_url(pinned)?;
        let url = base.join(url).map_err(|error| refuse("index", pinned, &error.to_string()))?;
        let wheel = self.get(pinned, url, WHEEL_BYTES_MAX).await?;
        let kept = self.cached(&digest).keep(wheel).await?;
        let wheel = kept.ok_or_else(|| refuse("hashes", pinned, "does not have the hash that the index gives"))?;
        Ok((digest, wheel))
    }

    async fn page(&self, pinned: &Pinned) -> Result<Page, Error> {
        let page = self.get(pinned, self.page_url(pinned)?, PAGE_BYTES_MAX).await?;
        let read = blocking(move || index_page::read(&page)).await?;
        read.ok_or_else(|| refuse("index", pinned, "the index answers neither JSON nor HTML of the simple API"))
    }

    fn page_url(&self, pinned: &Pinned) -> Result<Url, Error> {
        let index = self.index.as_deref().ok_or_else(|| {
            refuse("index", pinned, "cannot be fetched: no package index is set; give one to `lathe tool test` or `lathe serve` with --python-index or LATHE_PYTHON_INDEX, for example https://packages.example/simple")
        })?;
        let text = format!("{}/{}/", index.trim_end_matches('/'), pinned.name);
        Url::parse(&text).map_err(|error| Error::internal(format!("python_index is not a URL: {error}")))
    }

    async fn get(&self, pinned: &Pinned, url: Url, bytes_max: usize) -> Result<Vec<u8>, Error> {
        let failed =
            |error: reqwest::Error| refuse("index", pinned, &format!("cannot be fetched: {}", error.without_url()));
        let answer = self.client.get(url).header("accept", ACCEPT).send().await.map_err(failed)?;
        if answer.status() == reqwest::StatusCode::NOT_FOUND {
            return Err(refuse("index", pinned, "is not in the package index"));
        }
        let body = download::body(answer, bytes_max).await.map_err(failed)?;
        body.ok_or_else(|| refuse("size", pinned, &format!("is larger than {bytes_max} bytes")))
    }
}

/// The top-level modules of a package, without the directories that some packages include by mistake.
fn modules(files: &[SourceFile]) -> BTreeSet<String> {
    let name = |file: &SourceFile| {
        let name = file.path.strip_suffix("/__init__.py").or_else(|| file.path.strip_suffix(".py"))?;
        let is_module = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        (is_module && !NO_MODULES.contains(&name)).then(|| name.to_owned())
    };
    files.iter().filter_map(name).collect()
}

/// The pure-Python wheel that the lock file allows.
fn choose<'a>(pinned: &Pinned, page: &'a Page) -> Result<(&'a str, Digest), Error> {
    let listed = |file: &&File| file.sha256.is_some_and(|digest| pinned.hashes.contains(&digest));
    let allowed: Vec<_> = page.files.iter().filter(listed).collect();
    if allowed.is_empty() {
        return Err(refuse("hashes", pinned, "has no file in the index with one of the hashes in the lock file"));
    }
    let pure = allowed.into_iter().find(|file| file.filename.ends_with("-none-any.whl"));
    let found = pure.and_then(|file| Some((file.url.as_str(), file.sha256?)));
    found.ok_or_else(|| {
        refuse("pure-python", pinned, "has no pure-Python wheel among the lock file's hashes; packages with native code cannot run in the sandbox")
    })
}

fn refuse(check: &str, pinned: &Pinned, message: &str) -> Error {
    let message = format!("{}=={} {message}", pinned.name, pinned.version);
    Error::failed(STAGE, check, message).at(Location::line(lock::FILE, pinned.line))
}
