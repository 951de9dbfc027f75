//! Objects in a bucket, by key.
//!
//! Every request has a timeout and a few retries. A key is relative to the prefix of the [`StorageUrl`].

mod connect;
mod files;
mod problem;

use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt;
use metrics::counter;
use object_store::path::Path;
use object_store::{Error as Failure, ObjectStore, ObjectStoreExt, PutMode, PutPayload};

use self::problem::{Action, is_absent};
use super::storage_url::StorageUrl;
use crate::error::{Error, Result};
use crate::kit::clock::Timestamp;
use crate::kit::metrics::STORAGE_FAILURES;

/// The object that names the format of a bucket and its owner. It is written once.
const FORMAT_KEY: &str = "lathe/format";
/// The object of [`Objects::check`].
const CHECK_KEY: &str = "lathe/check";
const FORMAT: &str = "lathe storage 1";

/// Size of an object that is read into memory. The largest artifacts have some hundred megabytes.
const OBJECT_BYTES_MAX: u64 = 1 << 30;

/// A bucket; cheap to clone.
#[derive(Clone, Debug)]
pub struct Objects {
    url: StorageUrl,
    store: Arc<dyn ObjectStore>,
}

/// An object of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectEntry {
    pub key: String,
    pub bytes: u64,
    /// The time of its last change, by the clock of the service.
    pub modified: Timestamp,
}

impl Objects {
    /// Prepares requests to a bucket. `variables` are the environment variables with credentials, region and endpoint. Nothing
    /// is sent; [`Objects::claim`] is the check.
    ///
    /// # Errors
    /// [`Error::StorageUnusable`] when a variable is invalid or missing.
    pub fn connect(url: StorageUrl, variables: impl IntoIterator<Item = (String, String)>) -> Result<Self> {
        let store = connect::store(&url, variables)?;
        Ok(Self { url, store })
    }

    pub const fn url(&self) -> &StorageUrl {
        &self.url
    }

    /// Checks that objects can be created, once each, and read, and that the prefix belongs to `owner` or to nobody, which makes
    /// `owner` the owner. Two installations with one prefix would delete each other's artifacts.
    ///
    /// # Errors
    /// [`Error::StorageUnusable`] with the reason and what to do.
    pub async fn claim(&self, owner: &str) -> Result<()> {
        let unusable = |reason: String| Error::StorageUnusable { url: self.url.to_string(), reason };
        let claimed = self.claim_format(owner).await.map_err(|error| match error {
            Error::StorageFailing { detail } => {
                let detail = detail.strip_prefix(&format!("{}: ", self.url)).map(str::to_owned).unwrap_or(detail);
                unusable(detail)
            }
            other => other,
        });
        claimed?.map_err(|reason| unusable(reason.to_owned()))
    }

    /// Checks that an object can be written, read, listed and deleted. Nothing of it stays.
    ///
    /// # Errors
    /// [`Error::StorageFailing`] with the reason and what to do.
    pub async fn check(&self) -> Result<()> {
        self.replace(CHECK_KEY, Bytes::from_static(b"check")).await?;
        self.get(CHECK_KEY).await?;
        self.list("lathe").await?;
        self.delete(CHECK_KEY).await
    }

    /// Checks, without a change, that the prefix belongs to `owner` or to nobody.
    ///
    /// # Errors
    /// [`Error::StorageUnusable`] for the prefix of another owner, [`Error::StorageFailing`] when requests fail.
    pub async fn require_owner(&self, owner: &str) -> Result<()> {
        let Some(stored) = self.get(FORMAT_KEY).await? else { return Ok(()) };
        let unusable = |reason: &str| Error::StorageUnusable { url: self.url.to_string(), reason: reason.to_owned() };
        check_format(&stored, &format_of(owner)).map_err(unusable)
    }

    /// Returns why the bucket cannot be used, when its requests succeed.
    async fn claim_format(&self, owner: &str) -> Result<Result<(), &'static str>> {
        let ours = format_of(owner);
        let is_new = self.create(FORMAT_KEY, ours.clone()).await?;
        if is_new && self.create(FORMAT_KEY, ours.clone()).await? {
            return Ok(Err("the service ignores `If-None-Match`. Use one with conditional writes"));
        }
        Ok(match self.get(FORMAT_KEY).await? {
            Some(stored) => check_format(&stored, &ours),
            None => Err("an object that was just written is not there. Use a service with strongly consistent reads"),
        })
    }

    /// Creates an object, durably. Returns `false`, and changes nothing, when the key has an object.
    pub async fn create(&self, key: &str, bytes: Bytes) -> Result<bool> {
        let created =
            self.store.put_opts(&self.build_path(key), PutPayload::from_bytes(bytes), PutMode::Create.into()).await;
        match created {
            Ok(_) => Ok(true),
            Err(Failure::AlreadyExists { .. }) => Ok(false),
            Err(error) => Err(self.translate_failure(Action::Write, &error)),
        }
    }

    /// Creates or replaces an object, durably.
    pub async fn replace(&self, key: &str, bytes: Bytes) -> Result<()> {
        let replaced = self.store.put(&self.build_path(key), PutPayload::from_bytes(bytes)).await;
        replaced.map(|_| ()).map_err(|error| self.translate_failure(Action::Write, &error))
    }

    /// Reads an object as a whole.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for an object that is larger than any that was written.
    pub async fn get(&self, key: &str) -> Result<Option<Bytes>> {
        let found = match self.store.get(&self.build_path(key)).await {
            Ok(found) => found,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(self.translate_failure(Action::Read, &error)),
        };
        if found.meta.size > OBJECT_BYTES_MAX {
            let detail = format!("{}/{key} has {} bytes", self.url, found.meta.size);
            return Err(Error::Corrupt { what: "object", detail });
        }
        found.bytes().await.map(Some).map_err(|error| self.translate_failure(Action::Read, &error))
    }

    /// Copies an object inside of the bucket, durably. Returns whether `from` has one.
    pub async fn copy(&self, from: &str, to: &str) -> Result<bool> {
        match self.store.copy(&self.build_path(from), &self.build_path(to)).await {
            Ok(()) => Ok(true),
            Err(error) if is_absent(&error) => Ok(false),
            Err(error) => Err(self.translate_failure(Action::Write, &error)),
        }
    }

    /// Deletes an object, if the key has one.
    pub async fn delete(&self, key: &str) -> Result<()> {
        match self.store.delete(&self.build_path(key)).await {
            Ok(()) => Ok(()),
            Err(error) if is_absent(&error) => Ok(()),
            Err(error) => Err(self.translate_failure(Action::Delete, &error)),
        }
    }

    /// Lists the objects whose keys begin with `folder` and a slash.
    pub async fn list(&self, folder: &str) -> Result<Vec<ObjectEntry>> {
        let root = self.build_path("");
        let listed = self.store.list(Some(&self.build_path(folder))).try_collect::<Vec<_>>().await;
        let listed = listed.map_err(|error| self.translate_failure(Action::List, &error))?;
        let entry = |object: object_store::ObjectMeta| {
            let key = object.location.prefix_match(&root)?.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>();
            let modified = Timestamp::from_milliseconds(object.last_modified.timestamp_millis());
            Some(ObjectEntry { key: key.join("/"), bytes: object.size, modified })
        };
        Ok(listed.into_iter().filter_map(entry).collect())
    }

    fn build_path(&self, key: &str) -> Path {
        Path::from_iter(self.url.prefix().split('/').chain(key.split('/')).filter(|part| !part.is_empty()))
    }

    fn translate_failure(&self, action: Action, error: &Failure) -> Error {
        counter!(STORAGE_FAILURES, "action" => action.verb()).increment(1);
        Error::StorageFailing { detail: format!("{}: {}", self.url, problem::describe(&self.url, action, error)) }
    }
}

fn format_of(owner: &str) -> Bytes {
    Bytes::from(format!("{FORMAT}\nowner {owner}\n"))
}

/// Returns why the objects below a prefix cannot be used, given what its format object should have.
fn check_format(stored: &Bytes, ours: &Bytes) -> Result<(), &'static str> {
    if stored == ours {
        return Ok(());
    }
    if stored.starts_with(FORMAT.as_bytes()) {
        return Err(
            "the prefix belongs to an installation with another master key. Use another prefix; or, if that installation no \
             longer exists, delete the object `lathe/format` below the prefix",
        );
    }
    Err("a newer release of lathe wrote its objects. Use that release or a later one")
}
