//! The arithmetic of a limit, without clock and table: the generic cell rate algorithm.
//!
//! All that is kept of a user is one moment: when everything used is given back. Every request moves it on by the
//! share of a minute that one request stands for; a request that would move it more than a minute ahead is refused.

use std::time::Duration;

use registry::Timestamp;

const MINUTE_US: i64 = 60_000_000;
const SECOND_US: i64 = 1_000_000;

/// More than a server answers; also keeps a request's share of a minute well above a microsecond.
const PER_MINUTE_MAX: u32 = 1_000_000;

/// So many requests a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allowance(u32);

/// The moment at which a user has used nothing, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Restored(i64);

/// Whether a request may go on, and what a client is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) limit: u32,
    pub(super) remaining: u32,
    /// When all requests are there again, in seconds since 1970.
    pub(super) reset: u64,
    /// When a refused request could succeed; nothing for one that goes on.
    pub(super) retry_after: Option<Duration>,
}

impl Allowance {
    pub(super) const fn per_minute(requests: u32) -> Self {
        match requests {
            0 => Self(1),
            1..=PER_MINUTE_MAX => Self(requests),
            _ => Self(PER_MINUTE_MAX),
        }
    }

    pub(super) const fn requests(self) -> u32 {
        self.0
    }

    /// Uses one request at `now`, if there is one.
    pub(super) fn take(self, restored: Option<Restored>, now: Timestamp) -> (Restored, Verdict) {
        let now = now.as_milliseconds().saturating_mul(1_000);
        // A clock that was set back must not lock anybody out for longer than a minute.
        let before = restored.map_or(now, |Restored(moment)| moment.clamp(now, now.saturating_add(MINUTE_US)));
        let after = before.saturating_add(MINUTE_US / i64::from(self.0));
        let over = after.saturating_sub(now) - MINUTE_US;
        if over > 0 {
            let wait = Duration::from_micros(over.unsigned_abs());
            return (Restored(before), self.verdict(before, now, Some(wait)));
        }
        (Restored(after), self.verdict(after, now, None))
    }

    fn verdict(self, restored: i64, now: i64, retry_after: Option<Duration>) -> Verdict {
        let left = (MINUTE_US - (restored - now)) / (MINUTE_US / i64::from(self.0));
        let remaining = u32::try_from(left).unwrap_or(0).min(self.0);
        let reset = u64::try_from(restored).unwrap_or(0).div_ceil(SECOND_US.unsigned_abs());
        Verdict { limit: self.0, remaining, reset, retry_after }
    }
}

impl Restored {
    /// Whether there is nothing to remember any more.
    pub(super) fn is_past(self, now: Timestamp) -> bool {
        self.0 <= now.as_milliseconds().saturating_mul(1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_milliseconds(1_000_000 + milliseconds)
    }

    /// Asks at each moment and gives what is left, or the milliseconds to wait as a negative number.
    fn asked(per_minute: u32, moments: &[i64]) -> Vec<i64> {
        let mut restored = None;
        let mut answers = Vec::new();
        for moment in moments {
            let (after, verdict) = Allowance::per_minute(per_minute).take(restored, at(*moment));
            restored = Some(after);
            let wait = verdict.retry_after.map(|wait| -i64::try_from(wait.as_millis()).unwrap());
            answers.push(wait.unwrap_or(i64::from(verdict.remaining)));
        }
        answers
    }

    #[test]
    fn a_minutes_requests_may_come_at_once_and_come_back_evenly() {
        assert_eq!(asked(3, &[0, 0, 0, 0]), [2, 1, 0, -20_000]);
        assert_eq!(asked(3, &[0, 0, 0, 19_999, 20_000, 20_000]), [2, 1, 0, -1, 0, -20_000]);
        assert_eq!(asked(3, &[0, 0, 0, 60_000]), [2, 1, 0, 2]);
        assert_eq!(asked(1, &[0, 59_999, 60_000]), [0, -1, 0]);
        assert_eq!(asked(7, &[0; 8]), [6, 5, 4, 3, 2, 1, 0, -8_571]);
    }

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out_for_longer_than_a_minute() {
        assert_eq!(asked(2, &[500_000, 500_000, 0, 30_000]), [1, 0, -30_000, 0]);
    }

    #[test]
    fn the_reset_is_when_everything_is_there_again() {
        let (_, verdict) = Allowance::per_minute(2).take(None, at(500));
        assert_eq!((verdict.limit, verdict.remaining, verdict.reset), (2, 1, 1_031));
    }
}
