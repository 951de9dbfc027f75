//! What the fetchers of packages share: a client, bodies within a bound, and a cache by digest.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Response};

use crate::error::Error;

/// An index that moved, or keeps its files elsewhere, redirects once or twice.
const REDIRECTS_MAX: usize = 3;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Some indexes want to know who asks.
const USER_AGENT: &str = concat!("lathe/", env!("CARGO_PKG_VERSION"));

/// # Errors
/// When the system's certificates cannot be used.
pub fn client() -> Result<Client, Error> {
    let client = Client::builder().timeout(REQUEST_TIMEOUT).user_agent(USER_AGENT);
    client.redirect(Policy::limited(REDIRECTS_MAX)).build().map_err(Error::internal)
}

/// The body of an answer, unless it is larger than `bytes_max`.
///
/// # Errors
/// When the answer refuses, or breaks off.
pub async fn body(answer: Response, bytes_max: usize) -> Result<Option<Vec<u8>>, reqwest::Error> {
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

/// Puts a file into a cache, whole or not at all.
///
/// # Errors
/// When the disk refuses it.
pub fn keep(cache: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(cache)?;
    let file = tempfile::NamedTempFile::new_in(cache)?;
    fs::write(file.path(), bytes)?;
    file.persist(cache.join(name))?;
    Ok(())
}
