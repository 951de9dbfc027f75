//! The parts that package fetchers share: an HTTP client, bounded bodies, and a cache by digest.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::fcntl::AT_FDCWD;
use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};

use crate::attestation::Hash;
use crate::blocking::blocking;
use crate::error::Error;
use crate::io_error::at;

/// Redirects of a request. An index that moved, or keeps its files elsewhere, redirects once or twice.
const REDIRECTS_MAX: usize = 3;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// The user agent, which some indexes require.
const USER_AGENT: &str = concat!("lathe/", env!("CARGO_PKG_VERSION"));

/// # Errors
/// When the system's certificates cannot be used.
pub fn build_client() -> Result<Client, Error> {
    let client = Client::builder().timeout(REQUEST_TIMEOUT).user_agent(USER_AGENT);
    client.redirect(Policy::limited(REDIRECTS_MAX)).build().map_err(Error::internal)
}

/// The body of a response. `None` when it is larger than `bytes_max`.
///
/// # Errors
/// When the response has an error status or is incomplete.
pub async fn read_body(answer: Response, bytes_max: usize) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut answer = answer.error_for_status()?;
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > bytes_max {
            return Ok(None);
        }
    }
    Ok(Some(body))
}

/// The URL of a request and the reason of its failure, for a message: `http://pip.example/simple/six/: Connection refused`.
pub fn explain(url: &Url, error: &reqwest::Error) -> String {
    format!("{}: {}", show_url(url), find_cause(error))
}

/// A URL without what may be secret: user, password, query and fragment.
pub fn show_url(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_query(None);
    shown.set_fragment(None);
    // A URL without a host has no user either.
    let _ = shown.set_username("").and_then(|()| shown.set_password(None));
    shown.to_string()
}

/// The innermost cause, such as `Connection refused`, or the status of an answer.
fn find_cause(error: &reqwest::Error) -> String {
    if let Some(status) = error.status() {
        return format!("the answer is {status}");
    }
    if error.is_timeout() {
        return format!("no complete answer within {} s", REQUEST_TIMEOUT.as_secs());
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// A cached download, whose name in the cache is the digest of its bytes.
#[derive(Debug, Clone)]
pub struct Cached {
    pub directory: PathBuf,
    pub hash: Hash,
}

impl Cached {
    pub fn path(&self) -> PathBuf {
        self.directory.join(&self.hash.hex)
    }

    /// The bytes, if they are in the cache and undamaged, which are then marked as used now. For threads that may block.
    pub fn read(&self) -> Option<Vec<u8>> {
        self.is_kept().then(|| fs::read(self.path()).ok())?.filter(|bytes| self.hash.is_of(bytes))
    }

    /// Whether the cache has a file of this name, which is then marked as used now.
    pub fn is_kept(&self) -> bool {
        let (path, now) = (self.path(), TimeSpec::UTIME_NOW);
        // A file that cannot be marked may be deleted early.
        let _ = utimensat(AT_FDCWD, &path, &now, &now, UtimensatFlags::FollowSymlink);
        path.is_file()
    }

    /// Checks downloaded bytes and writes them to the cache; `None` if they have another digest.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn keep(self, bytes: Vec<u8>) -> Result<Option<Vec<u8>>, Error> {
        let keep = move || match self.hash.is_of(&bytes) {
            true => write(&self.directory, &self.path(), &bytes).map(|()| Some(bytes)),
            false => Ok(None),
        };
        blocking(keep).await?.map_err(Error::internal)
    }
}

/// Writes a file atomically.
///
/// # Errors
/// When the file cannot be written.
pub fn write(directory: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(directory).map_err(at(directory))?;
    let file = tempfile::NamedTempFile::new_in(directory).map_err(at(directory))?;
    fs::write(file.path(), bytes).map_err(at(file.path()))?;
    file.persist(path).map_err(|error| at(path)(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_url_has_no_secrets() {
        let shown = |url: &str| show_url(&Url::parse(url).unwrap());
        assert_eq!(shown("https://me:secret@pip.example/simple/six/?token=abc#x"), "https://pip.example/simple/six/");
        assert_eq!(shown("http://127.0.0.1:1/simple/six/"), "http://127.0.0.1:1/simple/six/");
    }
}
