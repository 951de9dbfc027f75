//! Limits on the requests of one organisation, so that tools cannot flood other servers.

use std::sync::Arc;

use dashmap::DashMap;
use parking_lot::Mutex;
use registry::{Clock, OrganizationId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::EgressBudget;
use crate::sandbox::ports::{HttpError, HttpErrorCode};

const MINUTE_MS: i64 = 60_000;
/// Concurrent resolutions of host names for one organisation. Each takes a thread.
const RESOLVING_MAX: usize = 8;

/// Counts the requests of all organisations.
pub struct Budgets {
    bounds: EgressBudget,
    clock: Clock,
    organizations: DashMap<OrganizationId, Arc<OrganizationUsage>>,
}

/// The usage of one organisation.
struct OrganizationUsage {
    minute: Mutex<MinuteUsage>,
    parallel: Arc<Semaphore>,
    resolving: Arc<Semaphore>,
}

/// The permit of one request in flight.
pub struct RequestPermit {
    _slot: OwnedSemaphorePermit,
    /// Permits to resolve host names.
    pub resolving: Arc<Semaphore>,
}

/// Requests and bytes of one minute.
#[derive(Default)]
struct MinuteUsage {
    minute: i64,
    requests: u32,
    bytes: u64,
}

impl Budgets {
    pub fn new(bounds: EgressBudget, clock: Clock) -> Self {
        Self { bounds, clock, organizations: DashMap::new() }
    }

    /// Counts a request, and waits until it may be sent.
    pub async fn request(&self, organization: &OrganizationId) -> Result<RequestPermit, HttpError> {
        let usage = self.find_usage(organization);
        self.count(&usage)?;
        let slot = usage.parallel.clone().acquire_owned().await;
        let slot = slot.map_err(|_| HttpError::new(HttpErrorCode::Budget, "the server is shutting down"))?;
        Ok(RequestPermit { _slot: slot, resolving: usage.resolving.clone() })
    }

    /// Counts bytes that were sent or received. Bytes beyond the limit refuse the next request.
    pub fn count_transferred(&self, organization: &OrganizationId, bytes: u64) {
        let usage = self.find_usage(organization);
        let mut used = usage.minute.lock();
        used.bytes = used.bytes.saturating_add(bytes);
    }

    fn find_usage(&self, organization: &OrganizationId) -> Arc<OrganizationUsage> {
        if let Some(found) = self.organizations.get(organization) {
            return found.clone();
        }
        let made = || {
            let parallel = Arc::new(Semaphore::new(self.bounds.parallel_max));
            let resolving = Arc::new(Semaphore::new(RESOLVING_MAX));
            Arc::new(OrganizationUsage { minute: Mutex::default(), parallel, resolving })
        };
        self.organizations.entry(organization.clone()).or_insert_with(made).clone()
    }

    fn count(&self, usage: &OrganizationUsage) -> Result<(), HttpError> {
        let minute = self.clock.now().as_milliseconds() / MINUTE_MS;
        let mut used = usage.minute.lock();
        if used.minute != minute {
            *used = MinuteUsage { minute, ..MinuteUsage::default() };
        }
        let EgressBudget { requests_per_minute, bytes_per_minute, .. } = self.bounds;
        if used.requests >= requests_per_minute || used.bytes >= bytes_per_minute {
            let message = format!(
                "the tools of this organisation may send {requests_per_minute} requests and transfer {bytes_per_minute} bytes a \
                 minute; try again in the next minute"
            );
            return Err(HttpError::new(HttpErrorCode::Budget, message));
        }
        used.requests += 1;
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
        budgets.count_transferred(&other, 10);
        assert_eq!(budgets.request(&other).await.err().map(|error| error.code), Some(HttpErrorCode::Budget));
    }
}
