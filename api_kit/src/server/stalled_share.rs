//! The time that stalled connections of one address share.
//!
//! A client that reads nothing of its response, or sends nothing of its body, costs the server a connection and itself
//! nothing. So when an address has most of the connections that it may have, each of its stalled connections has less
//! time the more of them there are.

use std::time::Duration;

/// Stalled connections of one address that have the whole time. A browser opens six to a host; this leaves two for other
/// programs of a client on a slow line.
pub(super) const STALLED_WITH_WHOLE_TIME_MAX: usize = 8;

/// Returns the time of one of an address's `stalled` connections.
pub(super) fn share_stalled_time(whole: Duration, stalled: usize) -> Duration {
    let count = |connections| u32::try_from(connections).unwrap_or(u32::MAX);
    whole.saturating_mul(count(STALLED_WITH_WHOLE_TIME_MAX)) / count(stalled.max(STALLED_WITH_WHOLE_TIME_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_with_many_stalled_connections_has_less_time_for_each() {
        let shares =
            [0, 1, 8, 16, 80, 512].map(|stalled| share_stalled_time(Duration::from_secs(32), stalled).as_millis());
        assert_eq!(shares, [32_000, 32_000, 32_000, 16_000, 3_200, 500]);
    }
}
