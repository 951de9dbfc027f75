//! Bytes of one request on the network.

use std::sync::atomic::{AtomicU64, Ordering};

use registry::{HttpUse, Timestamp};

/// Bytes sent and received since a request started.
pub struct ByteCounts {
    pub sent: AtomicU64,
    pub received: AtomicU64,
    started: Timestamp,
}

impl ByteCounts {
    pub const fn new(started: Timestamp) -> Self {
        Self { sent: AtomicU64::new(0), received: AtomicU64::new(0), started }
    }

    /// Writes the counts and the duration into a ledger entry.
    pub fn write_to(&self, entry: &mut HttpUse, now: Timestamp) {
        entry.sent_bytes = self.sent.load(Ordering::Relaxed);
        entry.received_bytes = self.received.load(Ordering::Relaxed);
        let taken = now.as_milliseconds().saturating_sub(self.started.as_milliseconds());
        entry.duration_ms = u64::try_from(taken).unwrap_or(0);
    }

    pub fn sum(&self) -> u64 {
        self.sent.load(Ordering::Relaxed).saturating_add(self.received.load(Ordering::Relaxed))
    }
}
