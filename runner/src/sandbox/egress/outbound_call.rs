//! One request of a run from its start to its end: its ledger entry, and the resources that it holds.

use std::sync::Arc;

use registry::HttpUse;

use super::byte_counts::ByteCounts;
use super::request_rules::is_allowed_method;
use super::simulation::ResponseSource;
use super::target::Target;
use super::usage::SessionState;
use crate::sandbox::ports::{HttpAnswer, HttpError, HttpErrorCode};

/// Stands in the ledger for a method that tools may not send.
const UNKNOWN_METHOD: &str = "?";
/// The error of a request that was cancelled.
const CANCELLED: &str = "cancelled";

/// A request in progress. Dropping it completes its ledger entry, so that a cancelled request is counted too.
pub struct OutboundCall<'a> {
    session: &'a SessionState,
    /// Index of the ledger entry.
    entry: usize,
    bytes: Arc<ByteCounts>,
    held: u64,
    reserved: Option<u64>,
    source: ResponseSource,
    status: Option<u16>,
    error: Option<HttpErrorCode>,
}

impl<'a> OutboundCall<'a> {
    /// Counts a request and adds its ledger entry.
    pub fn begin(session: &'a SessionState, method: &str, target: Option<&Target>) -> Result<Self, HttpError> {
        session.take_request()?;
        let host = target.map(Target::authority).unwrap_or_default();
        let method = if is_allowed_method(method) { method } else { UNKNOWN_METHOD }.to_owned();
        let bytes = Arc::new(ByteCounts::new(session.shared.clock.now()));
        let mut usage = session.lock_usage();
        let entry = usage.entries.len();
        usage.entries.push(HttpUse { host, method, error: Some(CANCELLED.into()), ..HttpUse::default() });
        usage.open.insert(entry, bytes.clone());
        let source = ResponseSource::Network;
        Ok(Self { session, entry, bytes, held: 0, reserved: None, source, status: None, error: None })
    }

    /// Reserves memory for a request body that waits to be sent, up to the byte limit of the run.
    pub fn hold(&mut self, bytes: u64) -> Result<(), HttpError> {
        let mut usage = self.session.lock_usage();
        if usage.held.saturating_add(bytes) > self.session.rules.limits.http_bytes {
            return Err(self.session.refuse_too_many_bytes());
        }
        usage.held += bytes;
        self.held = bytes;
        Ok(())
    }

    /// Reserves bytes for the request and its response, and returns how many the response body may have. Waits while
    /// other requests hold all bytes that are left.
    pub async fn reserve(&mut self, request_bytes: u64) -> Result<u64, HttpError> {
        loop {
            let released = self.session.released.notified();
            {
                let mut usage = self.session.lock_usage();
                let left = usage.bytes_left.saturating_sub(request_bytes);
                if left > 0 {
                    let response = left.min(self.session.rules.limits.http_response_bytes);
                    usage.bytes_left -= request_bytes + response;
                    usage.in_flight += 1;
                    self.reserved = Some(request_bytes + response);
                    return Ok(response);
                }
                if usage.in_flight == 0 {
                    return Err(self.session.refuse_too_many_bytes());
                }
            }
            released.await;
        }
    }

    pub const fn note_source(&mut self, source: ResponseSource) {
        self.source = source;
    }

    /// Notes the secrets that the request sends, and returns the counts for its connection.
    pub fn begin_sending(&self, secrets: Vec<String>) -> Arc<ByteCounts> {
        if let Some(entry) = self.session.lock_usage().entries.get_mut(self.entry) {
            entry.secrets = secrets;
        }
        self.bytes.clone()
    }

    pub fn end(&mut self, answer: &HttpAnswer) {
        self.status = answer.as_ref().ok().map(|found| found.status);
        self.error = answer.as_ref().err().map(|error| error.code);
    }
}

impl Drop for OutboundCall<'_> {
    fn drop(&mut self) {
        let Self { session, entry, bytes, held, reserved, source, status, error } = self;
        let used = bytes.sum();
        if used > 0 {
            session.shared.budgets.count_transferred(&session.rules.organization, used);
        }
        let now = session.shared.clock.now();
        let is_refused = error.is_some_and(HttpErrorCode::is_refusal);
        let mut usage = session.lock_usage();
        usage.open.remove(entry);
        usage.refused += u64::from(is_refused);
        usage.held -= *held;
        if let Some(reserved) = *reserved {
            usage.in_flight -= 1;
            usage.bytes_left += reserved.saturating_sub(used);
        }
        if let Some(found) = usage.entries.get_mut(*entry) {
            bytes.write_to(found, now);
            found.status = *status;
            found.is_refused = is_refused;
            if let Some(code) = error {
                found.error = Some(code.as_str().into());
            } else if status.is_some() {
                (found.error, found.answered_by) = (None, Some(source.as_str().into()));
            }
        }
        drop(usage);
        session.released.notify_waiters();
    }
}
