//! The end of unused connections while the server ends.

use std::time::Duration;

use tokio::time::Instant;

use super::{ConnectionState, EndReason};

/// The orderly end of the server. A client may send a request at the moment when the server closes its unused connection. So
/// each connection stays for a time in which a proxy uses it, and gets `connection: close` with the response, or closes
/// it by itself.
#[derive(Clone, Copy)]
pub(super) struct Drain {
    pub since: Instant,
    pub unused_max: Duration,
}

impl Drain {
    /// Why the connection has to end now, if it has to.
    pub fn find_end_reason(&self, state: &ConnectionState, now: Instant) -> Option<EndReason> {
        let unused_since = state.unused_since()?.max(self.since);
        (now.duration_since(unused_since) >= self.unused_max).then_some(EndReason::Idle)
    }
}
