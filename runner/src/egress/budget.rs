//! What the tools of one organisation may send and receive together, so that
//! nobody makes us a source of floods.

use std::sync::{Arc, Mutex, PoisonError};

use dashmap::DashMap;
use registry::{Clock, OrganizationId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{HttpError, HttpErrorCode};

const MINUTE_MS: i64 = 60_000;
/// Names that are looked up at once for one organisation; each has a thread of the process.
const RESOLVING_MAX: usize = 8;

/// Bounds of every organisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EgressBudget {
    pub requests_per_minute: u32,
    /// Of bodies, sent and received.
    pub bytes_per_minute: u64,
    /// Under way at once; what comes beyond waits.
    pub parallel_max: usize,
}

impl EgressBudget {
    /// Twenty a second, and what a small line carries.
    pub const DEFAULT: Self = Self { requests_per_minute: 1_200, bytes_per_minute: 512 << 20, parallel_max: 64 };
}

/// The accounts of all organisations.
pub struct Budgets {
    bounds: EgressBudget,
    clock: Clock,
    accounts: DashMap<OrganizationId, Arc<Account>>,
}

/// What one organisation used in the running minute.
pub struct Account {
    spent: Mutex<Spent>,
    parallel: Arc<Semaphore>,
    resolving: Arc<Semaphore>,
}

/// A request's place among those of its organisation.
pub struct Share {
    _place: OwnedSemaphorePermit,
    /// Names that are looked up at once.
    pub resolving: Arc<Semaphore>,
}

#[derive(Default)]
struct Spent {
    minute: i64,
    requests: u32,
    bytes: u64,
}

impl Budgets {
    pub fn new(bounds: EgressBudget, clock: Clock) -> Self {
        Self { bounds, clock, accounts: DashMap::new() }
    }

    /// One more request, which may wait for a place.
    pub async fn request(&self, organization: &OrganizationId) -> Result<Share, HttpError> {
        let account = self.account(organization);
        self.count(&account)?;
        let place = account.parallel.clone().acquire_owned().await;
        let place = place.map_err(|_| HttpError::new(HttpErrorCode::Budget, "the server is shutting down"))?;
        Ok(Share { _place: place, resolving: account.resolving.clone() })
    }

    /// Bytes that were sent or received; what is too much refuses the next request.
    pub fn transferred(&self, organization: &OrganizationId, bytes: u64) {
        let account = self.account(organization);
        let mut spent = account.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.bytes = spent.bytes.saturating_add(bytes);
    }

    fn account(&self, organization: &OrganizationId) -> Arc<Account> {
        if let Some(found) = self.accounts.get(organization) {
            return found.clone();
        }
        let made = || {
            let parallel = Arc::new(Semaphore::new(self.bounds.parallel_max));
            Arc::new(Account { spent: Mutex::default(), parallel, resolving: Arc::new(Semaphore::new(RESOLVING_MAX)) })
        };
        self.accounts.entry(organization.clone()).or_insert_with(made).clone()
    }

    fn count(&self, account: &Account) -> Result<(), HttpError> {
        let minute = self.clock.now().as_milliseconds() / MINUTE_MS;
        let mut spent = account.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if spent.minute != minute {
            *spent = Spent { minute, ..Spent::default() };
        }
        let EgressBudget { requests_per_minute, bytes_per_minute, .. } = self.bounds;
        if spent.requests >= requests_per_minute || spent.bytes >= bytes_per_minute {
            let message = format!(
                "the organisation's tools have sent {requests_per_minute} requests or {bytes_per_minute} bytes in this minute"
            );
            return Err(HttpError::new(HttpErrorCode::Budget, message));
        }
        spent.requests += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn requests_and_bytes_of_a_minute_are_bounded_by_organisation() {
        let bounds = EgressBudget { requests_per_minute: 2, bytes_per_minute: 10, parallel_max: 8 };
        let budgets = Budgets::new(bounds, Clock::fixed(registry::Timestamp::from_milliseconds(0)));
        let (one, other) = ("one".parse().unwrap(), "other".parse().unwrap());
        assert!(budgets.request(&one).await.is_ok() && budgets.request(&one).await.is_ok());
        assert_eq!(budgets.request(&one).await.err().map(|error| error.code), Some(HttpErrorCode::Budget));
        assert!(budgets.request(&other).await.is_ok());
        budgets.transferred(&other, 10);
        assert_eq!(budgets.request(&other).await.err().map(|error| error.code), Some(HttpErrorCode::Budget));
    }
}
