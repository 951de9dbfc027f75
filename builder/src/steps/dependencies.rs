//! Fetches Python packages by name, version and hash from the operator's package index: over the simple API as JSON
//! (PEP 691), or as HTML if the index has no JSON.
//!
//! Only wheels are accepted, and their native files are left out, so no code of a package runs here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use registry::Digest;
use reqwest::{Client, Url};
use runner::SourceFile;

use super::archive::{Format, Unpacked};
use super::documents::Parser;
use super::download::{self, Cached};
use super::foreign_locks;
use super::index_page::{self, File, Page};
use super::lock::{self, Pinned};
use super::manifest::Manifest;
use super::wheel::Identity;
use super::wheel_choice;
use crate::attestation::{Hash, Package};
use crate::blocking::blocking;
use crate::error::{Error, Location};
use crate::progress::BuildProgress;

const STAGE: &str = "dependencies";
const ACCEPT: &str = "application/vnd.pypi.simple.v1+json, text/html;q=0.1";
/// Bytes of a project page. The largest lists a few thousand releases.
const PAGE_BYTES_MAX: usize = 64 << 20;
const WHEEL_BYTES_MAX: usize = 32 << 20;
/// Directories that some packages contain beside their modules.
const NO_MODULES: [&str; 6] = ["docs", "examples", "scripts", "setup", "test", "tests"];
/// Bytes of all packages of one tool, unpacked.
const TOTAL_BYTES_MAX: usize = 64 << 20;
/// The next step when the package index does not answer.
const CHECK_INDEX: &str = ". Check that the package index runs, and that --python-index or LATHE_PYTHON_INDEX of `lathe serve` \
                           or `lathe tool test` names it; `lathe doctor` tries it";
/// The next step when the package index has no such package.
const OTHER_INDEX: &str = ". Correct its name and version, or name an index that has it with --python-index or \
                           LATHE_PYTHON_INDEX of `lathe serve` or `lathe tool test`";
const CHANGED_FILE: &str = "does not have the hash that the index gives: the file was changed on its way. Try again, and tell the \
                            operator of the index if it happens again";
const NO_SIMPLE_API: &str = "the index answers neither JSON nor HTML of the simple API; --python-index takes a URL such as \
                             https://packages.example/simple";
const NO_SUCH_FILE: &str = "has no file in the index with one of the hashes in the lock file: the lock file was made with another \
                            index. Run `uv pip compile --generate-hashes pyproject.toml -o requirements.lock` with this one";
const NO_WHEEL: &str = "has no wheel among the lock file's hashes, and packages are not built from source; pin a release that has \
                        a wheel (`uv pip compile --only-binary :all: --generate-hashes`)";
/// Native files of a package that the log names.
const NATIVE_NAMED_MAX: usize = 3;

/// The packages of a lock file.
#[derive(Debug, Default)]
pub struct Fetched {
    pub packages: Vec<Package>,
    pub files: Vec<SourceFile>,
    /// The modules of the packages that the project itself declares, which are those that it imports.
    pub imports: Vec<String>,
    /// The packages whose native files are left out, as `name==version`.
    pub without_native: Vec<String>,
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
        let (client, cache) = (download::build_client()?, cache_dir.join("wheels"));
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
        progress: &BuildProgress,
    ) -> Result<Fetched, Error> {
        let asked = manifest.dependencies.iter().map(|dependency| &dependency.name);
        let asked: Vec<_> = asked.filter(|name| *name != lock::OWN_PACKAGE).collect();
        let Some(lock) = files.get(lock::FILE) else {
            let foreign = foreign_locks::explain_python(files);
            if !asked.is_empty() {
                return Err(lock::refuse_missing(files.contains_key("uv.lock"), foreign));
            }
            // It may be of the project's tests, and need no packages.
            if let Some(foreign) = foreign {
                progress.warn(foreign);
            }
            return Ok(Fetched::default());
        };
        let (mut fetched, mut bytes) = (Fetched::default(), 0);
        if let Some(line) = lock::find_own_line(lock) {
            progress.line(format!(
                "{}:{line}: {} is the platform's own: the build uses the release of this program, and not the version, URL or hash of \
                 this line",
                lock::FILE,
                lock::OWN_PACKAGE
            ));
        }
        lock::find_left_out(lock).into_iter().for_each(|line| progress.line(line));
        let lock = lock.clone();
        let dependencies = manifest.dependencies.clone();
        let pins = blocking(move || {
            let pins = lock::parse(&lock)?;
            lock::check_pins(&dependencies, &pins).map(|()| pins)
        });
        for pinned in pins.await?? {
            progress.line(format!("package {}=={}", pinned.name, pinned.version));
            let (digest, Unpacked { files, native, .. }) = self.fetch_package(&pinned).await?;
            if !native.is_empty() {
                progress.line(show_left_out(&pinned, &native));
                fetched.without_native.push(format!("{}=={}", pinned.name, pinned.version));
            }
            bytes += files.iter().map(|file| file.contents.len()).sum::<usize>();
            if bytes > TOTAL_BYTES_MAX {
                return Err(refuse(
                    "size",
                    &pinned,
                    &format!("makes the dependencies larger than {TOTAL_BYTES_MAX} bytes"),
                ));
            }
            if asked.is_empty() || asked.contains(&&pinned.name) {
                fetched.imports.extend(list_modules(&files));
            }
            fetched.files.extend(files);
            let Pinned { name, version, .. } = pinned;
            let (version, hash) = (version.to_string(), Some(Hash::sha256(digest.to_hex())));
            fetched.packages.push(Package { kind: "pypi", name, version, hash });
        }
        Ok(fetched)
    }

    /// The digest and the contents of a package's wheel.
    async fn fetch_package(&self, pinned: &Pinned) -> Result<(Digest, Unpacked), Error> {
        let (digest, wheel) = match self.read_cached(pinned).await? {
            Some(found) => found,
            None => self.download(pinned).await?,
        };
        let unpacked = Parser { command: &self.parser }.unpack(Format::Wheel, wheel).await?;
        let unpacked = unpacked.map_err(|reason| refuse("wheel", pinned, &format!("is refused: {reason}")))?;
        // A hash pins only bytes, so the name and version of the lock file must match those in the wheel.
        let pinned_identity = Identity { name: pinned.name.clone(), version: pinned.version.clone() };
        if unpacked.identity.as_ref() != Some(&pinned_identity) {
            let own = unpacked.identity.map_or("no package".to_owned(), |identity| identity.to_string());
            let message =
                format!("is refused: the wheel with this hash is {own}; pin it under its own name and version");
            return Err(refuse("identity", pinned, &message));
        }
        Ok((digest, unpacked))
    }

    /// The wheel that an earlier build chose for the same line, if it is in the cache. Other cached wheels do not count: a
    /// build does not depend on them.
    async fn read_cached(&self, pinned: &Pinned) -> Result<Option<(Digest, Vec<u8>)>, Error> {
        let (path, hashes, cached) = (self.build_choice_path(pinned), pinned.hashes.clone(), self.clone());
        let read = move || {
            let digest = Digest::parse(&std::fs::read_to_string(path).ok()?).ok()?;
            hashes.contains(&digest).then(|| Some((digest, cached.cached(&digest).read()?))).flatten()
        };
        blocking(read).await
    }

    /// The file with the digest of the wheel that was chosen for a line, named after the digest of the line's contents.
    fn build_choice_path(&self, pinned: &Pinned) -> PathBuf {
        let hashes: String = pinned.hashes.iter().map(Digest::to_hex).collect();
        let line = format!("{}=={} {hashes}", pinned.name, pinned.version);
        self.cache.join("choices").join(Digest::of(line.as_bytes()).to_hex())
    }

    fn cached(&self, digest: &Digest) -> Cached {
        Cached { directory: self.cache.clone(), hash: Hash::sha256(digest.to_hex()) }
    }

    async fn download(&self, pinned: &Pinned) -> Result<(Digest, Vec<u8>), Error> {
        let page = self.fetch_page(pinned).await?;
        let (file, digest) = choose(pinned, &page)?;
        let cached = self.cached(&digest);
        let wheel = match blocking(move || cached.read()).await? {
            Some(wheel) => wheel,
            None => self.fetch_wheel(pinned, file, &digest).await?,
        };
        let (directory, path) = (self.cache.join("choices"), self.build_choice_path(pinned));
        let written = blocking(move || download::write(&directory, &path, digest.to_string().as_bytes())).await?;
        written.map_err(Error::internal)?;
        Ok((digest, wheel))
    }

    async fn fetch_wheel(&self, pinned: &Pinned, file: &File, digest: &Digest) -> Result<Vec<u8>, Error> {
        if let Some(size) = file.size.filter(|size| *size > WHEEL_BYTES_MAX as u64) {
            return Err(refuse("size", pinned, &format!("has {size} bytes; {WHEEL_BYTES_MAX} are the limit")));
        }
        let base = self.build_page_url(pinned)?;
        let url = base.join(&file.url).map_err(|error| refuse("index", pinned, &error.to_string()))?;
        let wheel = self.get(pinned, url, WHEEL_BYTES_MAX).await?;
        let kept = self.cached(digest).keep(wheel).await?;
        kept.ok_or_else(|| refuse("hashes", pinned, CHANGED_FILE))
    }

    async fn fetch_page(&self, pinned: &Pinned) -> Result<Page, Error> {
        let page = self.get(pinned, self.build_page_url(pinned)?, PAGE_BYTES_MAX).await?;
        let read = blocking(move || index_page::read(&page)).await?;
        read.ok_or_else(|| refuse("index", pinned, NO_SIMPLE_API))
    }

    fn build_page_url(&self, pinned: &Pinned) -> Result<Url, Error> {
        let index = self.index.as_deref().ok_or_else(|| {
            refuse("index", pinned, "cannot be fetched: no package index is set; give one to `lathe tool test` or `lathe serve` with --python-index or LATHE_PYTHON_INDEX, for example https://packages.example/simple")
        })?;
        let text = format!("{}/{}/", index.trim_end_matches('/'), pinned.name);
        Url::parse(&text).map_err(|error| Error::internal(format!("python_index is not a URL: {error}")))
    }

    async fn get(&self, pinned: &Pinned, url: Url, bytes_max: usize) -> Result<Vec<u8>, Error> {
        let failed = |error: reqwest::Error| {
            refuse("index", pinned, &format!("cannot be fetched from {}{CHECK_INDEX}", download::explain(&url, &error)))
        };
        let answer = self.client.get(url.clone()).header("accept", ACCEPT).send().await.map_err(failed)?;
        if answer.status() == reqwest::StatusCode::NOT_FOUND {
            let url = download::show_url(&url);
            return Err(refuse(
                "index",
                pinned,
                &format!("is not in the package index: {url} is not found{OTHER_INDEX}"),
            ));
        }
        let body = download::read_body(answer, bytes_max).await.map_err(failed)?;
        body.ok_or_else(|| {
            refuse(
                "size",
                pinned,
                &format!("is larger than {bytes_max} bytes, which is the limit; use a smaller package"),
            )
        })
    }
}

/// The top-level modules of a package, without the directories that some packages include by mistake.
fn list_modules(files: &[SourceFile]) -> BTreeSet<String> {
    let name = |file: &SourceFile| {
        let name = file.path.strip_suffix("/__init__.py").or_else(|| file.path.strip_suffix(".py"))?;
        let is_module = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        (is_module && !NO_MODULES.contains(&name)).then(|| name.to_owned())
    };
    files.iter().filter_map(name).collect()
}

/// The log line about native files.
fn show_left_out(pinned: &Pinned, native: &[String]) -> String {
    let named = native.iter().take(NATIVE_NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = native.len().saturating_sub(NATIVE_NAMED_MAX);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}=={} is used without its native files: {named}{more}", pinned.name, pinned.version)
}

/// The wheel that is used of those that the lock file allows.
fn choose<'a>(pinned: &Pinned, page: &'a Page) -> Result<(&'a File, Digest), Error> {
    let listed = |file: &&File| file.sha256.is_some_and(|digest| pinned.hashes.contains(&digest));
    let allowed: Vec<_> = page.files.iter().filter(listed).collect();
    if allowed.is_empty() {
        return Err(refuse("hashes", pinned, NO_SUCH_FILE));
    }
    let found = wheel_choice::choose_best(&allowed).and_then(|file| Some((file, file.sha256?)));
    found.ok_or_else(|| refuse("wheel", pinned, NO_WHEEL))
}

fn refuse(check: &str, pinned: &Pinned, message: &str) -> Error {
    let message = format!("{}=={} {message}", pinned.name, pinned.version);
    Error::failed(STAGE, check, message).at(Location::line(lock::FILE, pinned.line))
}
