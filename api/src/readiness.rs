//! What keeps the server from being ready: parts that are starting or have failed, a database that cannot be written.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use registry::{Clock, Store, Timestamp};
use tokio::time::timeout;

use crate::error::Error;

/// Looking writes to the disk, and anybody may ask: answers this old are good enough.
const LOOK_AGE_MAX: Duration = Duration::from_secs(1);

/// A database that takes longer for a write is not one to send requests to.
const LOOK_TIME_MAX: Duration = Duration::from_secs(2);

/// Shared by whoever starts parts of the server and whoever is asked. Clones are one.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// The parts that are not ready, with the reason.
    unready: Mutex<BTreeMap<&'static str, &'static str>>,
    /// When the database was last looked at, and whether it could be written. One looks, the others wait.
    looked: tokio::sync::Mutex<Option<(Timestamp, bool)>>,
}

impl Readiness {
    /// From now on the server is not ready for this reason.
    pub fn lacks(&self, part: &'static str, reason: &'static str) {
        self.unready().insert(part, reason);
    }

    /// The part does its work.
    pub fn has(&self, part: &'static str) {
        self.unready().remove(part);
    }

    pub(crate) async fn check(&self, store: &Store, clock: &Clock) -> Result<(), Error> {
        if let Some((part, reason)) = self.unready().first_key_value() {
            return Err(Error::NotReady { part, reason });
        }
        let mut looked = self.0.looked.lock().await;
        let now = clock.now();
        let fresh = looked.filter(|(at, _)| (*at..at.after(LOOK_AGE_MAX)).contains(&now));
        let (_, is_writable) = match fresh {
            Some(look) => look,
            None => *looked.insert(look(store, clock).await),
        };
        let reason = "it cannot be written; the log says more";
        if is_writable { Ok(()) } else { Err(Error::NotReady { part: "database", reason }) }
    }

    fn unready(&self) -> std::sync::MutexGuard<'_, BTreeMap<&'static str, &'static str>> {
        // A panic while the lock was held cannot have left the map half written.
        self.0.unready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn look(store: &Store, clock: &Clock) -> (Timestamp, bool) {
    let written = timeout(LOOK_TIME_MAX, store.check_writable()).await;
    let is_writable = match written {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            tracing::warn!(%error, "the database cannot be written");
            false
        }
        Err(_) => {
            tracing::warn!(seconds = LOOK_TIME_MAX.as_secs(), "the database takes too long to be written");
            false
        }
    };
    (clock.now(), is_writable)
}
