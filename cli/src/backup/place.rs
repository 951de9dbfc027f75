//! The place of a backup: a directory, or a prefix in a bucket.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use registry::{InvalidValue, StorageUrl};

#[derive(Clone, Debug)]
pub enum BackupPlace {
    Directory(PathBuf),
    Bucket(StorageUrl),
}

impl BackupPlace {
    /// Parses a URL of a bucket. Everything without `://` is a directory.
    pub fn parse(text: OsString) -> Result<Self, InvalidValue> {
        match text.to_str().filter(|text| text.contains("://")) {
            Some(url) => StorageUrl::parse(url).map(Self::Bucket),
            None => Ok(Self::Directory(text.into())),
        }
    }
}

impl fmt::Display for BackupPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => path.display().fmt(formatter),
            Self::Bucket(url) => url.fmt(formatter),
        }
    }
}
