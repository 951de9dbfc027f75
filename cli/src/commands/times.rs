//! Durations and points in time on the command line.

use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo, Timestamp};
use registry::Clock;

/// Reads a duration such as `90d`.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let span: Result<Span, _> = text.parse();
    let duration = span.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours())).ok();
    let duration = duration.and_then(|duration| Duration::try_from(duration).ok());
    duration.ok_or_else(|| "give a number with s, m, h, d or w, such as 90d".to_owned())
}

/// Reads a point in time: a duration before now such as `2h`, a time such as `2026-11-20T09:00:00Z`, or a date, which begins
/// at midnight UTC.
pub fn parse_past(text: &str) -> Result<Timestamp, String> {
    let now = Clock::system().now().as_milliseconds();
    parse_past_at(text, Timestamp::from_millisecond(now).map_err(|error| error.to_string())?)
}

fn parse_past_at(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    if let Ok(before) = parse_duration(text) {
        return now.checked_sub(before).map_err(|error| error.to_string());
    }
    let at_midnight = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    let time = text.parse().ok().or_else(at_midnight);
    time.ok_or_else(|| "give a duration such as 2h or 7d, a date, or a time such as 2026-11-20T09:00:00Z".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        for (text, seconds) in [("1s", 1), ("2m", 120), ("3h", 10_800), ("90d", 7_776_000), ("1w", 604_800)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "d", "90", "-1d", "1month", "1é", "99999999999999999999w"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_point_in_time_is_a_duration_ago_a_time_or_a_date() {
        let now = "2026-11-20T12:00:00Z".parse().expect("a time");
        for (text, expected) in [
            ("2h", "2026-11-20T10:00:00Z"),
            ("1d", "2026-11-19T12:00:00Z"),
            ("2026-11-20T09:00:00+01:00", "2026-11-20T08:00:00Z"),
            ("2026-11-01", "2026-11-01T00:00:00Z"),
        ] {
            assert_eq!(parse_past_at(text, now).map(|time| time.to_string()), Ok(expected.to_owned()), "{text}");
        }
        for text in ["", "yesterday", "12", "2026-13-01", "99999999w"] {
            assert!(parse_past_at(text, now).is_err(), "{text}");
        }
    }
}
