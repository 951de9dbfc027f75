//! Reads whose cost grows with what is stored: lists, and searches. They have connections of their own, so that a
//! request which only has to know its caller never stands behind them.
//!
//! At most [`Config::list_connections`] of them run at once, at most half of these for one organisation; the others
//! wait in line for [`Config::list_wait_max`]. Each has [`Config::list_time_max`] for all of its statements, and the
//! database stops as soon as nobody wants the answer any more.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use sqlx::SqlitePool;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::dialect::{PoolConnection, Reading, Row, is_interrupted};
use crate::account::OrganizationId;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::store::Store;

/// Steps of the database's machine between two looks at the time: less than a millisecond.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

/// Where lists are let in.
pub(in crate::store) struct Lists {
    pool: SqlitePool,
    /// What each organisation that has lists running or waiting may still run.
    shares: Mutex<BTreeMap<OrganizationId, Weak<Semaphore>>>,
    share: usize,
    time_max: Duration,
    wait_max: Duration,
}

/// A list that runs. Dropped, it stops.
pub(super) struct Listing {
    connection: PoolConnection,
    ending: Ending,
    _share: OwnedSemaphorePermit,
}

/// When a list is over.
#[derive(Clone)]
struct Ending {
    began: Instant,
    time_max: Duration,
    is_unwanted: Arc<AtomicBool>,
}

impl Lists {
    pub(in crate::store) fn new(pool: SqlitePool, config: &Config) -> Self {
        let share = usize::try_from(config.list_connections / 2).unwrap_or(usize::MAX).max(1);
        let (time_max, wait_max) = (config.list_time_max, config.list_wait_max);
        Self { pool, shares: Mutex::default(), share, time_max, wait_max }
    }

    pub(in crate::store) async fn close(&self) {
        self.pool.close().await;
    }

    async fn begin(&self, organization: &OrganizationId) -> Result<Listing> {
        let waited = tokio::time::timeout(self.wait_max, self.place(organization)).await;
        let line = || Error::DatabaseBusy { detail: format!("no list began within {:?}", self.wait_max) };
        let (share, mut connection) = waited.map_err(|_| line())??;
        let ending = Ending::from_now(self.time_max);
        // What the connection's last list left there is replaced; every list comes through here.
        let is_wanted = ending.clone();
        connection.lock_handle().await?.set_progress_handler(STEPS_BETWEEN_LOOKS, move || !is_wanted.has_come());
        Ok(Listing { connection, ending, _share: share })
    }

    /// Both lines serve those who came first. An organisation stands in the second with its share at most, whatever
    /// waits in the first.
    async fn place(&self, organization: &OrganizationId) -> Result<(OwnedSemaphorePermit, PoolConnection)> {
        let share = self.share_of(organization).acquire_owned().await.map_err(|_| Error::Closed)?;
        Ok((share, self.pool.acquire().await?))
    }

    fn share_of(&self, organization: &OrganizationId) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(organization).and_then(Weak::upgrade) {
            return share;
        }
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(self.share));
        shares.insert(organization.clone(), Arc::downgrade(&share));
        share
    }
}

impl Store {
    /// Waits until a list may begin. [`Error::DatabaseBusy`] when too many others run.
    pub(super) async fn listing(&self, organization: &OrganizationId) -> Result<Listing> {
        self.0.lists.begin(organization).await
    }
}

impl Listing {
    /// [`Error::QueryTooSlow`] when the list's time is over, for work between two statements.
    pub(super) fn check(&self) -> Result<()> {
        self.ending.check()
    }

    /// All rows of a statement. [`Error::QueryTooSlow`] when the list's time is over.
    pub(super) async fn rows(&mut self, statement: Reading<'_>) -> Result<Vec<Row>> {
        self.ending.check()?;
        statement.fetch_all(&mut *self.connection).await.map_err(|error| self.ending.told(error))
    }

    /// The row of a statement that has at most one.
    pub(super) async fn row(&mut self, statement: Reading<'_>) -> Result<Option<Row>> {
        self.ending.check()?;
        statement.fetch_optional(&mut *self.connection).await.map_err(|error| self.ending.told(error))
    }
}

impl Drop for Listing {
    fn drop(&mut self) {
        self.ending.is_unwanted.store(true, Ordering::Relaxed);
    }
}

impl Ending {
    #[expect(clippy::disallowed_methods, reason = "the time that a list takes, whatever the clock says")]
    fn from_now(time_max: Duration) -> Self {
        Self { began: Instant::now(), time_max, is_unwanted: Arc::default() }
    }

    fn has_come(&self) -> bool {
        self.is_unwanted.load(Ordering::Relaxed) || self.began.elapsed() >= self.time_max
    }

    fn check(&self) -> Result<()> {
        if self.has_come() { Err(self.too_slow()) } else { Ok(()) }
    }

    fn told(&self, error: sqlx::Error) -> Error {
        if is_interrupted(&error) { self.too_slow() } else { error.into() }
    }

    const fn too_slow(&self) -> Error {
        Error::QueryTooSlow { limit: self.time_max }
    }
}

#[cfg(test)]
mod tests;
