//! Fetches crates by name, version and checksum from the operator's crate index, through cargo's sparse protocol.
//!
//! The server itself fetches and unpacks crates, so that no program that an author influences needs a network.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use nix::sys::time::TimeSpec;
use reqwest::{Client, Url};
use serde::Deserialize;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::cargo::SOURCE_DATE_EPOCH;
use super::lock::Pinned;
use super::{disk, unpack};
use crate::attestation::Hash;
use crate::blocking::blocking;
use crate::error::Error;
use crate::progress::Progress;
use crate::steps::documents::{CrateName, Parser};
use crate::steps::download::{self, Cached};

/// The name of the public registry in `crate_index`.
const PUBLIC_INDEX: &str = "crates.io";
/// The refusal of a server without a crate index.
const NO_INDEX: &str = "cannot be fetched: this server has no crate index; ask its operator to set crate_index \
                        (LATHE_CRATE_INDEX) to crates.io, or to the URL of a sparse index";
const CONFIGURATION_BYTES_MAX: usize = 64 << 10;
/// The public registry accepts crates of up to 10 MiB.
const CRATE_BYTES_MAX: usize = 16 << 20;
/// All crates of one tool, unpacked. Crates for other platforms contain libraries.
const TOTAL_BYTES_MAX: u64 = 256 << 20;
/// Bytes of a crate's manifest; those of the largest bindings have 300 KiB.
const MANIFEST_BYTES_MAX: u64 = 1 << 20;
/// Downloads at a time: enough to hide network latency.
const PARALLEL_MAX: usize = 8;

/// Fetches crates and caches them by checksum.
#[derive(Debug, Clone)]
pub struct Crates {
    client: Client,
    index: Option<Arc<str>>,
    cache: Arc<Path>,
}

/// The directory for unpacked crates, and the parser of their manifests.
#[derive(Debug, Clone, Copy)]
pub struct VendorTarget<'v> {
    pub directory: &'v Path,
    pub parser: Parser<'v>,
}

/// The used part of an index's `config.json`.
#[derive(Debug, Clone, Deserialize)]
struct Configuration {
    dl: String,
}

impl Crates {
    /// `index` is `crates.io`, or the URL of a sparse index.
    ///
    /// # Errors
    /// When the system's certificates cannot be used.
    pub fn new(index: Option<&str>, cache_dir: &Path) -> Result<Self, Error> {
        let client = download::client()?;
        let index = index.map(|index| crate_index_url(index).into());
        Ok(Self { client, index, cache: cache_dir.join("crates").into() })
    }

    /// Unpacks all crates into one directory, in the format of cargo's directory sources.
    ///
    /// # Errors
    /// The first crate that cannot be fetched or unpacked, with its line in the lock file.
    pub async fn vendor(&self, pinned: &[Pinned], into: VendorTarget<'_>, progress: &Progress) -> Result<(), Error> {
        let missing: Vec<_> = pinned.iter().filter(|one| !self.cached(one).is_kept()).cloned().collect();
        if let Some(first) = missing.first() {
            progress.line(format!("fetching {} of {} crates", missing.len(), pinned.len()));
            let configuration = self.configuration(first).await?;
            self.download_all(missing, configuration).await?;
        }
        let (crates, all, vendor) = (self.clone(), pinned.to_vec(), into.directory.to_owned());
        let manifests = blocking(move || crates.unpack_all(&all, &vendor)).await??;
        check_names(pinned, manifests, into.parser).await
    }

    fn cached(&self, pinned: &Pinned) -> Cached {
        Cached { directory: self.cache.to_path_buf(), hash: Hash::sha256(pinned.checksum.to_hex()) }
    }

    /// Unpacks all crates, and returns the manifest of each.
    fn unpack_all(&self, pinned: &[Pinned], vendor: &Path) -> Result<Vec<String>, Error> {
        let (mut left, mut manifests) = (TOTAL_BYTES_MAX, Vec::new());
        disk::make_directory(vendor).map_err(Error::internal)?;
        for one in pinned {
            let cached = self.cached(one);
            let bytes = fs::read(cached.path()).map_err(Error::internal)?;
            if !cached.hash.is_of(&bytes) {
                // The next build downloads the crate again.
                drop(fs::remove_file(cached.path()));
                let directory = one.directory();
                return Err(Error::internal(format!(
                    "the cached crate {directory} is damaged and was removed; build again"
                )));
            }
            let used =
                unpack::Unpack { pinned: one, vendor, bytes_max: left }.run(&bytes).map_err(
                    |problem| match problem {
                        unpack::UnpackError::Refused(reason) => one.refuse("crate", &format!("is refused: {reason}")),
                        unpack::UnpackError::Disk(error) => Error::internal(error),
                    },
                )?;
            left -= used;
            manifests.push(manifest(one, vendor)?);
        }
        // Cargo compares these times with those of compiled crates.
        disk::set_times(vendor, TimeSpec::new(SOURCE_DATE_EPOCH, 0)).map_err(Error::internal)?;
        Ok(manifests)
    }

    async fn download_all(&self, missing: Vec<Pinned>, configuration: Configuration) -> Result<(), Error> {
        let permits = Arc::new(Semaphore::new(PARALLEL_MAX));
        let mut downloads = JoinSet::new();
        for pinned in missing {
            let (crates, dl, permits) = (self.clone(), configuration.clone(), permits.clone());
            downloads.spawn(async move {
                let _permit = permits.acquire().await;
                crates.download(&pinned, &dl).await
            });
        }
        while let Some(done) = downloads.join_next().await {
            done.map_err(Error::internal)??;
        }
        Ok(())
    }

    async fn download(&self, pinned: &Pinned, configuration: &Configuration) -> Result<(), Error> {
        let url = configuration.url(pinned);
        let url = Url::parse(&url).map_err(|error| pinned.refuse("index", &format!("cannot be fetched: {error}")))?;
        let bytes = self.get(pinned, url, CRATE_BYTES_MAX).await?;
        self.cached(pinned).keep(bytes).await?.map(drop).ok_or_else(|| {
            pinned.refuse(
                "checksum",
                "has another checksum in the index than in Cargo.lock; run `cargo update` and commit Cargo.lock",
            )
        })
    }

    async fn configuration(&self, first: &Pinned) -> Result<Configuration, Error> {
        let index = self.index.as_deref().ok_or_else(|| first.refuse("index", NO_INDEX))?;
        let url = Url::parse(&format!("{index}/config.json"))
            .map_err(|error| Error::internal(format!("crate_index is not a URL: {error}")))?;
        let bytes = self.get(first, url, CONFIGURATION_BYTES_MAX).await?;
        serde_json::from_slice(&bytes).map_err(|_| {
            first.refuse("index", "cannot be fetched: the crate index has no config.json with a `dl` field")
        })
    }

    async fn get(&self, pinned: &Pinned, url: Url, bytes_max: usize) -> Result<Vec<u8>, Error> {
        let failed =
            |error: reqwest::Error| pinned.refuse("index", &format!("cannot be fetched: {}", error.without_url()));
        let answer = self.client.get(url).send().await.map_err(failed)?;
        let body = download::body(answer, bytes_max).await.map_err(failed)?;
        body.ok_or_else(|| pinned.refuse("size", &format!("is larger than {bytes_max} bytes")))
    }
}

/// The URL of a sparse index, from the setting `crate_index`.
pub fn crate_index_url(index: &str) -> String {
    match index.strip_prefix("sparse+").unwrap_or(index) {
        PUBLIC_INDEX => format!("https://index.{PUBLIC_INDEX}"),
        url => url.trim_end_matches('/').to_owned(),
    }
}

/// Refuses crates whose manifest names another crate than the lock file. A checksum pins bytes; name and version are
/// checked against those bytes.
async fn check_names(pinned: &[Pinned], manifests: Vec<String>, parser: Parser<'_>) -> Result<(), Error> {
    let Some(first) = pinned.first() else { return Ok(()) };
    let names = parser.crate_names(manifests).await?;
    let names =
        names.ok_or_else(|| first.refuse("crate", "or another crate has a Cargo.toml that is too large to parse"))?;
    for (one, name) in pinned.iter().zip(names) {
        let own = Some(CrateName { name: one.name.clone(), version: one.version.clone() });
        if name != own {
            let named =
                name.map_or("not a crate".to_owned(), |CrateName { name, version }| format!("{name} {version}"));
            return Err(one.refuse("identity", &format!("is refused: the crate with this checksum is {named}")));
        }
    }
    Ok(())
}

fn manifest(pinned: &Pinned, vendor: &Path) -> Result<String, Error> {
    let unreadable =
        || pinned.refuse("crate", "is refused: its Cargo.toml is missing, not UTF-8, or larger than 1 MiB");
    let file = fs::File::open(vendor.join(pinned.directory()).join("Cargo.toml")).map_err(|_| unreadable())?;
    let mut text = String::new();
    file.take(MANIFEST_BYTES_MAX + 1).read_to_string(&mut text).map_err(|_| unreadable())?;
    if text.len() as u64 > MANIFEST_BYTES_MAX { Err(unreadable()) } else { Ok(text) }
}

impl Configuration {
    /// The URL of a crate, from the markers in `dl`.
    fn url(&self, pinned: &Pinned) -> String {
        let prefix = prefix(&pinned.name);
        let markers = [
            ("{crate}", pinned.name.as_str()),
            ("{version}", &pinned.version),
            ("{prefix}", &prefix),
            ("{lowerprefix}", &prefix.to_lowercase()),
            ("{sha256-checksum}", &pinned.checksum.to_hex()),
        ];
        if !markers.iter().any(|(marker, _)| self.dl.contains(marker)) {
            return format!("{}/{}/{}/download", self.dl.trim_end_matches('/'), pinned.name, pinned.version);
        }
        markers.iter().fold(self.dl.clone(), |url, (marker, value)| url.replace(marker, value))
    }
}

/// The directory of a crate in an index: `1`, `2`, `3/s`, or `se/rd`.
fn prefix(name: &str) -> String {
    match name.len() {
        length @ 0..=2 => length.to_string(),
        3 => format!("3/{}", &name[..1]),
        _ => format!("{}/{}", &name[..2], &name[2..4]),
    }
}

#[cfg(test)]
mod tests {
    use registry::Digest;

    use super::*;

    #[test]
    fn the_configuration_determines_the_url_of_a_crate() {
        let pinned = Pinned { name: "Serde".into(), version: "1.0.1".into(), checksum: Digest::of(b""), line: 1 };
        let url = |dl: &str| Configuration { dl: dl.into() }.url(&pinned);
        assert_eq!(url("https://example.com/crates"), "https://example.com/crates/Serde/1.0.1/download");
        assert_eq!(
            url("https://example.com/{lowerprefix}/{crate}-{version}.crate"),
            "https://example.com/se/rd/Serde-1.0.1.crate"
        );
        assert_eq!((prefix("ab").as_str(), prefix("syn").as_str()), ("2", "3/s"));
    }
}
