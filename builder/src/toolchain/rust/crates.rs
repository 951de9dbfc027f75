//! Crates by name, version and checksum, from the operator's crate index: the sparse protocol of cargo's registries.
//!
//! They are fetched and unpacked here, so that no program that an author has a word in ever has a network.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use registry::Digest;
use reqwest::{Client, Url};
use serde::Deserialize;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::lock::Pinned;
use super::{disk, unpack};
use crate::error::Error;
use crate::progress::Progress;
use crate::steps::download;

/// A registry of one's own names its mirror in the same way.
const PUBLIC_INDEX: &str = "crates.io";
const CONFIGURATION_BYTES_MAX: usize = 64 << 10;
/// The public registry takes none of more than ten.
const CRATE_BYTES_MAX: usize = 16 << 20;
/// All crates of one tool, unpacked; those for other platforms carry libraries.
const TOTAL_BYTES_MAX: u64 = 256 << 20;
/// Enough to hide the way to a server, and no crowd for it.
const PARALLEL_MAX: usize = 8;

/// Fetches crates and keeps them by checksum.
#[derive(Debug, Clone)]
pub struct Crates {
    client: Client,
    index: Option<Arc<str>>,
    cache: Arc<Path>,
}

/// What an index says of itself, as far as it is of use.
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
        let index = index.map(|index| match index.strip_prefix("sparse+").unwrap_or(index) {
            PUBLIC_INDEX => format!("https://index.{PUBLIC_INDEX}").into(),
            url => url.trim_end_matches('/').into(),
        });
        Ok(Self { client, index, cache: cache_dir.join("crates").into() })
    }

    /// Puts all crates into a directory, as cargo's directory sources are.
    ///
    /// # Errors
    /// With the crate and its line of the lock file.
    pub async fn vendor(&self, pinned: &[Pinned], vendor: &Path, progress: &Progress) -> Result<(), Error> {
        let missing: Vec<_> = pinned.iter().filter(|one| !self.cached(one).is_file()).cloned().collect();
        if let Some(first) = missing.first() {
            progress.line(format!("{} of {} crates are fetched", missing.len(), pinned.len()));
            let configuration = self.configuration(first).await?;
            self.download_all(missing, configuration).await?;
        }
        let (crates, pinned, vendor) = (self.clone(), pinned.to_vec(), vendor.to_owned());
        let unpacking = tokio::task::spawn_blocking(move || crates.unpack_all(&pinned, &vendor));
        unpacking.await.map_err(Error::internal)?
    }

    fn cached(&self, pinned: &Pinned) -> PathBuf {
        self.cache.join(pinned.checksum.to_hex())
    }

    fn unpack_all(&self, pinned: &[Pinned], vendor: &Path) -> Result<(), Error> {
        let mut left = TOTAL_BYTES_MAX;
        disk::make_directory(vendor).map_err(Error::internal)?;
        for one in pinned {
            let bytes = fs::read(self.cached(one)).map_err(Error::internal)?;
            if Digest::of(&bytes) != one.checksum {
                // The next build fetches it again.
                drop(fs::remove_file(self.cached(one)));
                return Err(Error::internal(format!("{} is damaged in the cache", one.directory())));
            }
            let used = unpack::unpack(&bytes, one, vendor, left).map_err(|problem| match problem {
                unpack::Problem::Refused(reason) => one.refuse("crate", &format!("is refused: {reason}")),
                unpack::Problem::Disk(error) => Error::internal(error),
            })?;
            left -= used;
        }
        Ok(())
    }

    async fn download_all(&self, missing: Vec<Pinned>, configuration: Configuration) -> Result<(), Error> {
        let turns = Arc::new(Semaphore::new(PARALLEL_MAX));
        let mut downloads = JoinSet::new();
        for pinned in missing {
            let (crates, dl, turns) = (self.clone(), configuration.clone(), turns.clone());
            downloads.spawn(async move {
                let _turn = turns.acquire().await;
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
        if Digest::of(&bytes) != pinned.checksum {
            return Err(pinned.refuse("checksum", "has another checksum in the index than in the lock file"));
        }
        download::keep(&self.cache, &pinned.checksum.to_hex(), &bytes).map_err(Error::internal)
    }

    async fn configuration(&self, first: &Pinned) -> Result<Configuration, Error> {
        let index = self.index.as_deref().ok_or_else(|| {
            first.refuse("index", "cannot be fetched: this server has no crate index; its operator sets crate_index (LATHE_CRATE_INDEX) to crates.io, or to the URL of a sparse index")
        })?;
        let url = Url::parse(&format!("{index}/config.json"))
            .map_err(|error| Error::internal(format!("crate_index is no URL: {error}")))?;
        let bytes = self.get(first, url, CONFIGURATION_BYTES_MAX).await?;
        serde_json::from_slice(&bytes)
            .map_err(|_| first.refuse("index", "the crate index has no config.json with `dl`"))
    }

    async fn get(&self, pinned: &Pinned, url: Url, bytes_max: usize) -> Result<Vec<u8>, Error> {
        let failed =
            |error: reqwest::Error| pinned.refuse("index", &format!("cannot be fetched: {}", error.without_url()));
        let answer = self.client.get(url).send().await.map_err(failed)?;
        let body = download::body(answer, bytes_max).await.map_err(failed)?;
        body.ok_or_else(|| pinned.refuse("size", &format!("is larger than {bytes_max} bytes")))
    }
}

impl Configuration {
    /// Where a crate is, by the markers of the index's `dl`.
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

/// The directories of an index: `1`, `2`, `3/s`, or `se/rd`.
fn prefix(name: &str) -> String {
    match name.len() {
        length @ 0..=2 => length.to_string(),
        3 => format!("3/{}", &name[..1]),
        _ => format!("{}/{}", &name[..2], &name[2..4]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_says_where_its_crates_are() {
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
