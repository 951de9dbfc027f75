//! Fetches crates by name, version and checksum from the operator's crate index, through cargo's sparse protocol.
//!
//! The server itself fetches and unpacks crates, so that no program that an author influences needs a network.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use reqwest::{Client, Url};
use serde::Deserialize;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::cargo::SOURCE_DATE_EPOCH;
use super::lock::Pinned;
use crate::attestation::Hash;
use crate::blocking::blocking;
use crate::error::Error;
use crate::progress::BuildProgress;
use crate::sandbox::files;
use crate::steps::crates::{CrateArchive, Problem, Vendoring};
use crate::steps::documents::{CRATES_BYTES_MAX, CrateName, Parser};
use crate::steps::download::{self, Cached};
use crate::text::show;

/// The name of the public registry in `crate_index`.
const PUBLIC_INDEX: &str = "crates.io";
/// The refusal of a server without a crate index.
const NO_INDEX: &str = "cannot be fetched: no crate index is set; give one to `lathe tool test` or `lathe serve` with \
                        --crate-index or LATHE_CRATE_INDEX, for example crates.io";
/// The next step when the crate index does not answer.
const CHECK_INDEX: &str = ". Check that the crate index runs, and that --crate-index or LATHE_CRATE_INDEX of `lathe serve` or \
                           `lathe tool test` names it; `lathe doctor` tries it";
const CONFIGURATION_BYTES_MAX: usize = 64 << 10;
/// The public registry accepts crates of up to 10 MiB.
const CRATE_BYTES_MAX: usize = 16 << 20;
/// Downloads at a time: enough to hide network latency.
const PARALLEL_MAX: usize = 8;

/// Fetches crates and caches them by checksum.
#[derive(Debug, Clone)]
pub struct Crates {
    client: Client,
    index: Option<Arc<str>>,
    cache: Arc<Path>,
}

/// The directory for unpacked crates, and the child that unpacks them.
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
        let client = download::build_client()?;
        let index = index.map(|index| build_index_url(index).into());
        Ok(Self { client, index, cache: cache_dir.join("crates").into() })
    }

    /// Unpacks all crates into one directory, in the format of cargo's directory sources.
    ///
    /// # Errors
    /// The first crate that cannot be fetched or unpacked, with its line in the lock file.
    pub async fn vendor(
        &self,
        pinned: &[Pinned],
        into: VendorTarget<'_>,
        progress: &BuildProgress,
    ) -> Result<(), Error> {
        let missing: Vec<_> = pinned.iter().filter(|one| !self.cached(one).is_kept()).cloned().collect();
        if let Some(first) = missing.first() {
            progress.line(format!("fetching {} of {} crates", missing.len(), pinned.len()));
            let configuration = self.fetch_configuration(first).await?;
            self.download_all(missing, configuration).await?;
        }
        let directory = into.directory.to_owned();
        let Some(first) = pinned.first() else {
            // The sandbox mounts the directory also if it is empty.
            return blocking(move || files::make_directory(&directory)).await?.map_err(Error::internal);
        };
        let archive = |one: &Pinned| CrateArchive {
            path: self.cached(one).path(),
            checksum: one.checksum,
            directory: one.directory(),
        };
        let (archives, modified_at) = (pinned.iter().map(archive).collect(), SOURCE_DATE_EPOCH);
        let vendoring = Vendoring { archives, directory, bytes_max: CRATES_BYTES_MAX, modified_at };
        match into.parser.unpack_crates(vendoring).await? {
            Some(Ok(names)) => check_names(pinned, names),
            Some(Err((index, problem))) => Err(self.problem(pinned.get(index).unwrap_or(first), problem)),
            None => Err(first.refuse("cost", "or another crate takes more time or memory to unpack than crates may")),
        }
    }

    fn cached(&self, pinned: &Pinned) -> Cached {
        Cached { directory: self.cache.to_path_buf(), hash: Hash::sha256(pinned.checksum.to_hex()) }
    }

    fn problem(&self, pinned: &Pinned, problem: Problem) -> Error {
        match problem {
            Problem::Refused(reason) => pinned.refuse("crate", &format!("is refused: {reason}")),
            Problem::Disk(error) => Error::internal(error),
            Problem::Damaged => {
                // The next build downloads the crate again.
                drop(fs::remove_file(self.cached(pinned).path()));
                let directory = pinned.directory();
                Error::internal(format!("the cached crate {directory} is damaged and was removed; build again"))
            }
        }
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
        let url = configuration.build_url(pinned);
        let url = Url::parse(&url).map_err(|error| pinned.refuse("index", &format!("cannot be fetched: {error}")))?;
        let bytes = self.get(pinned, url, CRATE_BYTES_MAX).await?;
        self.cached(pinned).keep(bytes).await?.map(drop).ok_or_else(|| {
            pinned.refuse(
                "checksum",
                "has another checksum in the index than in Cargo.lock; run `cargo update` and commit Cargo.lock",
            )
        })
    }

    async fn fetch_configuration(&self, first: &Pinned) -> Result<Configuration, Error> {
        let index = self.index.as_deref().ok_or_else(|| first.refuse("index", NO_INDEX))?;
        let url = Url::parse(&format!("{index}/config.json"))
            .map_err(|error| Error::internal(format!("crate_index is not a URL: {error}")))?;
        let bytes = self.get(first, url, CONFIGURATION_BYTES_MAX).await?;
        serde_json::from_slice(&bytes).map_err(|_| {
            first.refuse("index", "cannot be fetched: the crate index has no config.json with a `dl` field")
        })
    }

    async fn get(&self, pinned: &Pinned, url: Url, bytes_max: usize) -> Result<Vec<u8>, Error> {
        let failed = |error: reqwest::Error| {
            pinned.refuse("index", &format!("cannot be fetched from {}{CHECK_INDEX}", download::explain(&url, &error)))
        };
        let answer = self.client.get(url.clone()).send().await.map_err(failed)?;
        let body = download::read_body(answer, bytes_max).await.map_err(failed)?;
        body.ok_or_else(|| {
            pinned.refuse("size", &format!("is larger than {bytes_max} bytes, which is the limit; use a smaller crate"))
        })
    }
}

/// The URL of a sparse index, from the setting `crate_index`.
pub fn build_index_url(index: &str) -> String {
    match index.strip_prefix("sparse+").unwrap_or(index) {
        PUBLIC_INDEX => format!("https://index.{PUBLIC_INDEX}"),
        url => url.trim_end_matches('/').to_owned(),
    }
}

/// Refuses crates whose manifest names another crate than the lock file. A checksum pins bytes; name and version are
/// checked against those bytes.
fn check_names(pinned: &[Pinned], names: Vec<Option<CrateName>>) -> Result<(), Error> {
    for (one, name) in pinned.iter().zip(names) {
        let own = Some(CrateName { name: one.name.clone(), version: one.version.clone() });
        if name != own {
            let named = name.map_or("not a crate".to_owned(), |CrateName { name, version }| {
                format!("{} {}", show(&name), show(&version))
            });
            return Err(one.refuse("identity", &format!("is refused: the crate with this checksum is {named}")));
        }
    }
    Ok(())
}

impl Configuration {
    /// The URL of a crate, from the markers in `dl`.
    fn build_url(&self, pinned: &Pinned) -> String {
        let prefix = compute_prefix(&pinned.name);
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
fn compute_prefix(name: &str) -> String {
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
        let url = |dl: &str| Configuration { dl: dl.into() }.build_url(&pinned);
        assert_eq!(url("https://example.com/crates"), "https://example.com/crates/Serde/1.0.1/download");
        assert_eq!(
            url("https://example.com/{lowerprefix}/{crate}-{version}.crate"),
            "https://example.com/se/rd/Serde-1.0.1.crate"
        );
        assert_eq!((compute_prefix("ab").as_str(), compute_prefix("syn").as_str()), ("2", "3/s"));
    }
}
