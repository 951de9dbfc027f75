//! Readiness of the server: parts that are starting or have failed, and whether the database can be written.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use api_kit::error::Error;
use parking_lot::Mutex;
use registry::{Clock, Store, Timestamp};
use tokio::time::timeout;

/// How long a check of the database is valid. A check writes to the disk, and every client may ask for readiness.
const CHECK_AGE_MAX: Duration = Duration::from_secs(1);

/// A database that takes longer for a write is not ready for requests.
const WRITE_TIME_MAX: Duration = Duration::from_secs(2);

/// The parts of the server that are not ready. Clones share it: those that start parts write it, and the health check
/// reads it.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<ReadinessState>);

#[derive(Debug, Default)]
struct ReadinessState {
    /// The parts that are not ready, with the reason.
    unready: Mutex<BTreeMap<&'static str, &'static str>>,
    /// Time and result of the last check of the database. Concurrent requests wait for one check.
    checked: tokio::sync::Mutex<Option<(Timestamp, bool)>>,
    /// Whether the server is about to end.
    is_ending: AtomicBool,
}

impl Readiness {
    /// Marks a part as not ready, for this reason.
    pub fn lacks(&self, part: &'static str, reason: &'static str) {
        self.0.unready.lock().insert(part, reason);
    }

    /// Marks a part as ready.
    pub fn has(&self, part: &'static str) {
        self.0.unready.lock().remove(part);
    }

    /// Marks the server as not ready for the rest of its time.
    pub(crate) fn end(&self) {
        self.0.is_ending.store(true, Ordering::Relaxed);
    }

    /// Whether the server is about to end.
    pub(crate) fn is_ending(&self) -> bool {
        self.0.is_ending.load(Ordering::Relaxed)
    }

    pub(crate) async fn check(&self, store: &Store, clock: &Clock) -> Result<(), Error> {
        if self.is_ending() {
            return Err(Error::ShuttingDown);
        }
        let unready = self.0.unready.lock().first_key_value().map(|(part, reason)| (*part, *reason));
        if let Some((part, reason)) = unready {
            return Err(Error::NotReady { part, reason });
        }
        let mut checked = self.0.checked.lock().await;
        let now = clock.now();
        let valid = checked.filter(|(at, _)| (*at..at.after(CHECK_AGE_MAX)).contains(&now));
        let (_, is_writable) = match valid {
            Some(check) => check,
            None => *checked.insert(check_database(store, clock).await),
        };
        let reason = "it cannot be written; the log says more";
        if is_writable { Ok(()) } else { Err(Error::NotReady { part: "database", reason }) }
    }
}

async fn check_database(store: &Store, clock: &Clock) -> (Timestamp, bool) {
    let written = timeout(WRITE_TIME_MAX, store.check_writable()).await;
    let is_writable = match written {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            tracing::warn!(%error, "the database cannot be written");
            false
        }
        Err(_) => {
            tracing::warn!(seconds = WRITE_TIME_MAX.as_secs(), "the database takes too long to be written");
            false
        }
    };
    (clock.now(), is_writable)
}
