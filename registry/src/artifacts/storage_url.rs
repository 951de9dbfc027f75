//! The URL of a bucket: `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX` or `az://CONTAINER/PREFIX`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::kit::invalid_value::InvalidValue;

/// The service that has a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// Amazon S3 and services with its interface.
    S3,
    GoogleCloudStorage,
    /// Azure Blob Storage.
    Azure,
}

/// A bucket, and the prefix of all keys in it. Displays without a slash at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StorageUrl {
    provider: Provider,
    bucket: String,
    prefix: String,
}

impl StorageUrl {
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let invalid = InvalidValue::new(
            "storage",
            "must be s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX; the prefix may be left out",
        );
        let url = Url::parse(text).map_err(|_| invalid.clone())?;
        let provider = match url.scheme() {
            "s3" => Provider::S3,
            "gs" => Provider::GoogleCloudStorage,
            "az" => Provider::Azure,
            _ => return Err(invalid),
        };
        let is_plain = url.query().is_none() && url.fragment().is_none() && url.port().is_none();
        let has_user = !url.username().is_empty() || url.password().is_some();
        let bucket = url.host_str().filter(|bucket| is_plain && !has_user && is_word(bucket)).ok_or(invalid.clone())?;
        let prefix = url.path().trim_matches('/');
        if !prefix.is_empty() && !prefix.split('/').all(is_word) {
            return Err(invalid);
        }
        Ok(Self { provider, bucket: bucket.to_owned(), prefix: prefix.to_owned() })
    }

    pub const fn provider(&self) -> Provider {
        self.provider
    }

    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// The prefix of all keys, without slashes at its ends. May be empty.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }
}

/// Whether a text needs no escape in a key or a URL, and is neither `.` nor `..`.
fn is_word(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'=');
    !text.is_empty() && text.bytes().all(is_plain) && text.bytes().any(|byte| byte != b'.')
}

impl Provider {
    pub(crate) const fn scheme(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::GoogleCloudStorage => "gs",
            Self::Azure => "az",
        }
    }

    /// The environment variables with the credentials, for messages.
    pub(crate) const fn credentials(self) -> &'static str {
        match self {
            Self::S3 => "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            Self::GoogleCloudStorage => "GOOGLE_APPLICATION_CREDENTIALS",
            Self::Azure => "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
        }
    }
}

impl fmt::Display for StorageUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.prefix.is_empty() { "" } else { "/" };
        write!(formatter, "{}://{}{separator}{}", self.provider.scheme(), self.bucket, self.prefix)
    }
}

impl FromStr for StorageUrl {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Self::parse(text)
    }
}

impl TryFrom<String> for StorageUrl {
    type Error = InvalidValue;

    fn try_from(text: String) -> Result<Self, InvalidValue> {
        Self::parse(&text)
    }
}

impl From<StorageUrl> for String {
    fn from(url: StorageUrl) -> Self {
        url.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_provider_a_bucket_and_a_prefix() {
        for (text, expected) in [
            ("s3://lathe", Some("s3://lathe")),
            ("s3://lathe/", Some("s3://lathe")),
            ("gs://a-b.c/one/two/", Some("gs://a-b.c/one/two")),
            ("az://lathe/production", Some("az://lathe/production")),
            ("lathe", None),
            ("/srv/lathe", None),
            ("file:///srv/lathe", None),
            ("https://lathe.example/bucket", None),
            ("s3://", None),
            ("s3:///prefix", None),
            ("s3://user:secret@lathe", None),
            ("s3://lathe:9000/prefix", None),
            ("s3://lathe/a//b", None),
            ("s3://lathe/a?versions", None),
            ("s3://lathe/a#b", None),
            ("s3://lathe/a b", None),
        ] {
            let parsed = StorageUrl::parse(text).ok().map(|url| url.to_string());
            assert_eq!(parsed.as_deref(), expected, "{text}");
        }
    }
}
