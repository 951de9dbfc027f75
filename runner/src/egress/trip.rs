//! One request from its start to its end, whichever way that comes: its entry in the ledger, and what it used.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use registry::{HttpUse, Timestamp};

use super::gate::Run;
use super::head::is_sent;
use super::target::Target;
use crate::{HttpAnswer, HttpError, HttpErrorCode};

/// A method that is not sent has no business in a record.
const NO_METHOD: &str = "?";
/// The end of a request that nobody waited for.
const CANCELLED: &str = "cancelled";

/// Bytes on the wire, counted as they go, since a request began.
pub struct Wire {
    pub sent: AtomicU64,
    pub received: AtomicU64,
    started: Timestamp,
}

impl Wire {
    /// Writes what it has counted into an entry.
    pub fn tell(&self, entry: &mut HttpUse, now: Timestamp) {
        entry.sent_bytes = self.sent.load(Ordering::Relaxed);
        entry.received_bytes = self.received.load(Ordering::Relaxed);
        let taken = now.as_milliseconds().saturating_sub(self.started.as_milliseconds());
        entry.duration_ms = u64::try_from(taken).unwrap_or(0);
    }

    fn bytes(&self) -> u64 {
        self.sent.load(Ordering::Relaxed).saturating_add(self.received.load(Ordering::Relaxed))
    }
}

/// Who answered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Network,
    Mock,
    Recorded,
}

impl Source {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Mock => "mock",
            Self::Recorded => "recorded",
        }
    }
}

/// Closes its entry when it is dropped, so that a request that is given up is counted too.
pub struct Trip<'a> {
    run: &'a Run,
    entry: usize,
    wire: Arc<Wire>,
    held: u64,
    set_aside: Option<u64>,
    source: Source,
    status: Option<u16>,
    error: Option<HttpErrorCode>,
}

impl<'a> Trip<'a> {
    /// Counts a request and enters it.
    pub fn begin(run: &'a Run, method: &str, target: Option<&Target>) -> Result<Self, HttpError> {
        run.take_request()?;
        let host = target.map(Target::authority).unwrap_or_default();
        let method = if is_sent(method) { method } else { NO_METHOD }.to_owned();
        let started = run.egress.clock.now();
        let wire = Arc::new(Wire { sent: AtomicU64::new(0), received: AtomicU64::new(0), started });
        let mut account = run.account();
        let entry = account.uses.len();
        account.uses.push(HttpUse { host, method, error: Some(CANCELLED.into()), ..HttpUse::default() });
        account.open.insert(entry, wire.clone());
        Ok(Self { run, entry, wire, held: 0, set_aside: None, source: Source::Network, status: None, error: None })
    }

    /// Takes room for a body that waits to be sent, as much as could be sent at all.
    pub fn hold(&mut self, bytes: u64) -> Result<(), HttpError> {
        let mut account = self.run.account();
        if account.held.saturating_add(bytes) > self.run.pass.limits.http_bytes {
            return Err(self.run.too_much());
        }
        account.held += bytes;
        self.held = bytes;
        Ok(())
    }

    pub fn set_aside(&mut self, bytes: u64) {
        self.set_aside = Some(bytes);
    }

    pub fn answered_by(&mut self, source: Source) {
        self.source = source;
    }

    /// From here on something leaves.
    pub fn sending(&self, secrets: Vec<String>) -> Arc<Wire> {
        if let Some(entry) = self.run.account().uses.get_mut(self.entry) {
            entry.secrets = secrets;
        }
        self.wire.clone()
    }

    pub fn end(&mut self, answer: &HttpAnswer) {
        self.status = answer.as_ref().ok().map(|found| found.status);
        self.error = answer.as_ref().err().map(|error| error.code);
    }
}

impl Drop for Trip<'_> {
    fn drop(&mut self) {
        let Self { run, entry, wire, held, set_aside, source, status, error } = self;
        let used = wire.bytes();
        if used > 0 {
            run.egress.budgets.transferred(&run.pass.organization, used);
        }
        let now = run.egress.clock.now();
        let is_refused = error.is_some_and(HttpErrorCode::is_refusal);
        let mut account = run.account();
        account.open.remove(entry);
        account.refused += u64::from(is_refused);
        account.held -= *held;
        if let Some(aside) = *set_aside {
            account.under_way -= 1;
            account.bytes_left += aside.saturating_sub(used);
        }
        if let Some(found) = account.uses.get_mut(*entry) {
            wire.tell(found, now);
            found.status = *status;
            found.is_refused = is_refused;
            if let Some(code) = error {
                found.error = Some(code.as_str().into());
            } else if status.is_some() {
                (found.error, found.answered_by) = (None, Some(source.as_str().into()));
            }
        }
        drop(account);
        run.give_back();
    }
}
