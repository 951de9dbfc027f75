//! The limits of one run's requests, and what the requests used.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use registry::HttpUse;
use tokio::sync::{Notify, Semaphore};

use super::byte_counts::ByteCounts;
use super::recorded_responses::RecordedResponses;
use super::shared::{EgressRules, EgressShared};
use crate::limits::Limits;
use crate::sandbox::ports::{HttpError, HttpErrorCode};

/// State of one run's requests.
pub struct SessionState {
    pub shared: Arc<EgressShared>,
    pub rules: EgressRules,
    /// Requests in flight.
    pub parallel: Semaphore,
    usage: Mutex<Usage>,
    /// Notified when reserved bytes are released.
    pub released: Notify,
}

/// Resources that the requests of one run used and have left.
pub struct Usage {
    requests_left: u32,
    /// Bytes that are neither used nor reserved.
    pub bytes_left: u64,
    /// Bytes of request bodies that the server holds, waiting requests included.
    pub held: u64,
    /// Requests with reserved bytes.
    pub in_flight: u32,
    /// Ledger entries in the order of the requests.
    pub entries: Vec<HttpUse>,
    /// Byte counts of open requests by the index of their ledger entry.
    pub open: BTreeMap<usize, Arc<ByteCounts>>,
    pub refused: u64,
    pub responses: RecordedResponses,
}

impl SessionState {
    pub fn new(shared: Arc<EgressShared>, rules: EgressRules) -> Self {
        let Limits { http_requests, http_bytes, http_parallel, .. } = rules.limits;
        let usage = Usage {
            requests_left: http_requests,
            bytes_left: http_bytes,
            held: 0,
            in_flight: 0,
            entries: Vec::new(),
            open: BTreeMap::new(),
            refused: 0,
            responses: RecordedResponses::default(),
        };
        let parallel = Semaphore::new(http_parallel);
        Self { shared, rules, parallel, usage: Mutex::new(usage), released: Notify::new() }
    }

    pub fn lock_usage(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock()
    }

    /// Counts a request, or refuses it.
    pub fn take_request(&self) -> Result<(), HttpError> {
        let mut usage = self.lock_usage();
        let Some(left) = usage.requests_left.checked_sub(1) else {
            usage.refused += 1;
            let message = format!("a run may send at most {} requests", self.rules.limits.http_requests);
            return Err(HttpError::new(HttpErrorCode::Budget, message));
        };
        usage.requests_left = left;
        Ok(())
    }

    /// The refusal of bytes beyond the limit of the run.
    pub fn refuse_too_many_bytes(&self) -> HttpError {
        let message = format!("a run may send and receive at most {} bytes", self.rules.limits.http_bytes);
        HttpError::new(HttpErrorCode::Budget, message)
    }
}
