//! The storage of artifacts and of large bodies: the data directory, or a bucket.
//!
//! The file `storage` in a data directory has the URL of the bucket. Commands beside the server, such as `lathe gc`, find
//! the artifacts by it, and a server that is started without `--storage` does not lose them.

mod contents_copy;

use std::io;
use std::path::Path;

use anyhow::Context;
use clap::Args;
use registry::{
    Artifacts, BucketOptions, Clock, DataDir, Digest, KeyRing, Objects, SharedRepositories, StorageUrl, Store,
};
use serde::Deserialize;

pub use self::contents_copy::{ContentsCopy, ContentsKind, VerifiedContents};
use crate::failure::Failure;
use crate::private_file;

/// Label of the text that tells the installations of a bucket apart.
const OWNER_LABEL: &str = "owner of a bucket";

/// Enough for the artifacts of some hundred tools.
const CACHE_MEGABYTES_DEFAULT: u64 = 10 * 1024;
const MEGABYTE: u64 = 1024 * 1024;

#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default)]
pub struct StorageSettings {
    /// Bucket of the artifacts, such as s3://BUCKET/PREFIX, or with gs:// or az:// [default: the data directory]
    ///
    /// See [artifacts in a bucket](../how-to/store-artifacts-in-a-bucket.md).
    #[arg(long, env = "LATHE_STORAGE", value_name = "URL")]
    pub storage: Option<StorageUrl>,
    /// Disk space in the data directory for copies of the bucket's artifacts, in MiB [default: 10240]
    #[arg(long, env = "LATHE_STORAGE_CACHE_MEGABYTES", value_name = "MIB")]
    pub storage_cache_megabytes: Option<u64>,
}

impl StorageSettings {
    /// Size of the cache of a bucket's artifacts.
    pub fn cache_bytes_max(&self) -> u64 {
        self.storage_cache_megabytes.unwrap_or(CACHE_MEGABYTES_DEFAULT).saturating_mul(MEGABYTE)
    }

    /// Opens the artifacts of a data directory, after a check of their bucket. The first start with a bucket copies the
    /// artifacts and the large bodies of the data directory to it.
    ///
    /// # Errors
    /// When the bucket cannot be used, or is not the one that has the artifacts.
    pub async fn open(&self, data: &DataDir, keys: &KeyRing) -> anyhow::Result<Artifacts> {
        let recorded = read_recorded_storage(data.root())?;
        let Some(url) = self.storage.as_ref().or(recorded.as_ref()) else { return Ok(Artifacts::open(data)?) };
        if let Some(recorded) = recorded.as_ref().filter(|recorded| *recorded != url) {
            return Err(refuse_other_storage(data, recorded, url));
        }
        let objects = connect(url)?;
        objects.claim(&name_owner(keys)).await?;
        let options = BucketOptions { objects, cache_bytes_max: self.cache_bytes_max(), clock: Clock::system() };
        let artifacts = Artifacts::in_bucket(data, options)?;
        if recorded.is_none() {
            copy_contents(&Artifacts::open(data)?, &artifacts, url).await?;
            let path = DataDir::storage_file(data.root());
            private_file::write(&path, format!("{url}\n")).with_context(|| format!("writing {}", path.display()))?;
        }
        tracing::info!(storage = %url, "the artifacts are in a bucket");
        Ok(artifacts)
    }
}

/// Opens the artifacts of a data directory for a command beside the server. What it reads is not cached.
///
/// # Errors
/// Those of [`StorageSettings::open`].
pub async fn open_artifacts(data: &DataDir) -> anyhow::Result<Artifacts> {
    let settings = StorageSettings { storage: None, storage_cache_megabytes: Some(0) };
    settings.open(data, &KeyRing::load(data)?).await
}

/// The repositories that servers share; `None` for those of one server, which are in its data directory.
///
/// # Errors
/// When the database has shared repositories and their bucket is not known. A server would begin empty repositories, and a backup
/// would have none.
pub async fn open_shared_repositories(
    store: &Store,
    artifacts: &Artifacts,
) -> anyhow::Result<Option<SharedRepositories>> {
    let shared = SharedRepositories::of(store, artifacts);
    if shared.is_some() || !store.repositories().has_shared_repositories().await? {
        return Ok(shared);
    }
    let message = "the git repositories of this database are in a bucket, which is not known here";
    let hint = "start `lathe serve` with --storage URL, after a restore also with a new bucket; \
        run `lathe backup` on the data directory of a server that has one";
    Err(Failure::coded("storage_needed", message, hint))
}

/// Moves the packs of a restored data directory to the bucket, if servers share the repositories.
pub async fn take_restored_packs(
    records: Option<SharedRepositories>,
    data: &DataDir,
) -> anyhow::Result<Option<SharedRepositories>> {
    let Some(records) = records else { return Ok(None) };
    let taken = records.take_restored(&data.restored_packs()).await?;
    if taken > 0 {
        tracing::info!(taken, "the packs of the restored repositories are in the bucket");
    }
    Ok(Some(records))
}

/// The bucket that has the artifacts of a data directory.
///
/// # Errors
/// When the file with its URL cannot be read.
pub fn read_recorded_storage(directory: &Path) -> anyhow::Result<Option<StorageUrl>> {
    let path = DataDir::storage_file(directory);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("reading {}", path.display())),
    };
    Ok(Some(StorageUrl::parse(text.trim()).with_context(|| format!("reading {}", path.display()))?))
}

/// Prepares requests to a bucket with the credentials of the environment.
///
/// # Errors
/// When a variable is missing or invalid.
pub fn connect(url: &StorageUrl) -> registry::Result<Objects> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    Objects::connect(url.clone(), std::env::vars_os().filter_map(text))
}

/// Installations with the same master key, as after a restore, are one owner.
pub fn name_owner(keys: &KeyRing) -> String {
    Digest::of(&keys.derive(OWNER_LABEL)).to_hex()
}

async fn copy_contents(from: &Artifacts, to: &Artifacts, url: &StorageUrl) -> anyhow::Result<()> {
    let silent = |_, _| {};
    for kind in [ContentsKind::Artifacts, ContentsKind::Bodies] {
        let copied = ContentsCopy { kind, from, to }.copy(&silent).await?;
        if copied > 0 {
            tracing::info!(copied, ?kind, storage = %url, "contents of the data directory are copied to the bucket");
        }
    }
    Ok(())
}

/// The refusal of a bucket that is not the one of the data directory.
pub fn refuse_other_storage(data: &DataDir, recorded: &StorageUrl, url: &StorageUrl) -> anyhow::Error {
    let message = format!("the artifacts of {} are in {recorded}, not in {url}", data.root().display());
    let hint = format!(
        "give `--storage {recorded}` or none; or copy all objects to {url}, and delete the file {}",
        DataDir::storage_file(data.root()).display()
    );
    Failure::coded("storage_differs", message, hint)
}
