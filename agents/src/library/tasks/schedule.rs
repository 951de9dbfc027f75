//! The times of a recurring task.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cron::find_cron_instant;
use super::local_times::find_instant;
use super::moment::Moment;

/// The step from one occurrence to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Recurrence {
    Daily,
    Weekly,
    Monthly,
    /// At the times of the cron expression.
    Cron,
}

/// The times at which a recurring task is due.
#[derive(Debug)]
pub(super) enum Schedule {
    Cron { expression: String, zone: TimeZone },
    Every { recurrence: Recurrence, start: Start, zone: TimeZone },
}

/// The first occurrence of days, weeks or months.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    pub instant: Timestamp,
    /// The local time from which the others are counted. A change of the clock may leave out that of the first one.
    pub local: DateTime,
}

impl Schedule {
    /// The first occurrence after a time. `None` when there is none.
    pub fn after(&self, time: Moment) -> Option<Moment> {
        let time = time.instant()?;
        match self {
            Self::Cron { expression, zone } => find_cron_instant(expression, zone, time).map(Moment::of),
            Self::Every { recurrence, start, zone } => {
                // No step is shorter than the divisor, but for a change of the clock.
                let passed = time.duration_since(start.instant).as_secs() / recurrence.seconds_max() - 1;
                // The calendar ends.
                let mut steps = (passed.max(0)..).map_while(|step| recurrence.step(start, step, zone));
                steps.find(|next| *next > time).map(Moment::of)
            }
        }
    }
}

impl Recurrence {
    const fn seconds_max(self) -> i64 {
        let days = match self {
            Self::Daily => 1,
            Self::Weekly => 7,
            Self::Monthly | Self::Cron => 31,
        };
        days * 24 * 60 * 60
    }

    /// Returns the occurrence some steps after the start. Months are counted from the start: a task of the 31st is due on the last day
    /// of each shorter month.
    fn step(self, start: &Start, steps: i64, zone: &TimeZone) -> Option<Timestamp> {
        if steps == 0 {
            // The start may be a time that occurs twice, at the second.
            return Some(start.instant);
        }
        let span = match self {
            Self::Daily => Span::new().try_days(steps),
            Self::Weekly => Span::new().try_weeks(steps),
            Self::Monthly | Self::Cron => Span::new().try_months(steps),
        };
        find_instant(zone, start.local.checked_add(span.ok()?).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use proptest::prelude::*;

    use super::super::local_times::find_zone;
    use super::super::local_times::tests::{find_slowly, near_a_change};
    use super::*;

    fn every(recurrence: Recurrence, start: &str) -> Schedule {
        let (zone, local) = (find_zone("Europe/Berlin").unwrap(), start.parse().unwrap());
        Schedule::Every { recurrence, start: Start { instant: find_instant(&zone, local).unwrap(), local }, zone }
    }

    /// The next occurrences after a time, as local times.
    fn times(schedule: &Schedule, after: &str, count: usize) -> Vec<String> {
        let mut time = Moment::parse(after, &TimeZone::UTC).unwrap();
        let berlin = find_zone("Europe/Berlin").unwrap();
        let next = || {
            time = schedule.after(time)?;
            Some(time.instant()?.to_zoned(berlin.clone()).strftime("%m-%d %H:%M %z").to_string())
        };
        std::iter::from_fn(next).take(count).collect()
    }

    #[test]
    fn days_weeks_and_months_are_counted_from_the_start() {
        let start = "2026-01-31T09:00";
        let monthly = times(&every(Recurrence::Monthly, start), "2026-01-31T08:00:00Z", 3);
        assert_eq!(monthly, ["02-28 09:00 +0100", "03-31 09:00 +0200", "04-30 09:00 +0200"]);
        let weekly = times(&every(Recurrence::Weekly, start), "2026-03-27T12:00:00Z", 2);
        assert_eq!(weekly, ["03-28 09:00 +0100", "04-04 09:00 +0200"]);
        let daily = times(&every(Recurrence::Daily, start), "2026-10-24T07:00:00Z", 2);
        assert_eq!(daily, ["10-25 09:00 +0100", "10-26 09:00 +0100"]);
        let before = times(&every(Recurrence::Daily, start), "2020-01-01T00:00:00Z", 1);
        assert_eq!(before, ["01-31 09:00 +0100"], "the start is the first one");
    }

    #[test]
    fn days_weeks_and_months_that_are_left_out_are_due_at_the_change_and_double_ones_once() {
        for (recurrence, start, next) in [
            (Recurrence::Daily, "2026-03-28T02:30", "03-30 02:30 +0200"),
            (Recurrence::Weekly, "2026-03-22T02:30", "04-05 02:30 +0200"),
            (Recurrence::Monthly, "2026-01-29T02:30", "04-29 02:30 +0200"),
            (Recurrence::Daily, "2026-03-29T02:30", "03-30 02:30 +0200"),
        ] {
            let found = times(&every(recurrence, start), "2026-03-28T12:00:00Z", 2);
            assert_eq!(found, ["03-29 03:00 +0200", next], "{recurrence:?} from {start}");
        }
        let double = times(&every(Recurrence::Daily, "2026-10-01T02:30"), "2026-10-24T12:00:00Z", 2);
        assert_eq!(double, ["10-25 02:30 +0200", "10-26 02:30 +0100"]);
        let second =
            Start { instant: "2026-10-25T01:30:00Z".parse().unwrap(), local: "2026-10-25T02:30".parse().unwrap() };
        let zone = find_zone("Europe/Berlin").unwrap();
        let given =
            times(&Schedule::Every { recurrence: Recurrence::Daily, start: second, zone }, "2026-10-25T01:00:00Z", 2);
        assert_eq!(given, ["10-25 02:30 +0100", "10-26 02:30 +0100"], "the start is the time that was given");
    }

    proptest! {
        #[test]
        fn the_next_occurrence_near_a_change_of_any_clock_is_found(
            (zone, after) in near_a_change(), steps in 1_i64..40, minutes in -120_i64..120,
            recurrence in prop::sample::select(&[Recurrence::Daily, Recurrence::Weekly, Recurrence::Monthly][..]),
        ) {
            let near = zone.to_datetime(after).checked_add(SignedDuration::from_mins(minutes)).unwrap();
            let span = match recurrence {
                Recurrence::Daily => Span::new().days(steps),
                Recurrence::Weekly => Span::new().weeks(steps),
                _ => Span::new().months(steps),
            };
            let local = near.checked_sub(span).unwrap();
            let start = Start { instant: find_slowly(&zone, local), local };
            let stepped = |step: i64| match recurrence {
                Recurrence::Daily => local.checked_add(Span::new().days(step)),
                Recurrence::Weekly => local.checked_add(Span::new().weeks(step)),
                _ => local.checked_add(Span::new().months(step)),
            };
            let near_steps = (steps - 2).max(0)..steps + 3;
            let expected = near_steps.map(|step| find_slowly(&zone, stepped(step).unwrap())).find(|next| *next > after);
            let schedule = Schedule::Every { recurrence, start, zone };
            // Instants are stored in milliseconds.
            prop_assert_eq!(schedule.after(Moment::of(after)), expected.map(Moment::of));
        }

        #[test]
        fn an_occurrence_is_always_later(time in -60_000_000_000_i64..60_000_000_000, start in 0_i64..60_000_000_000) {
            let [time, start] = [time, start].map(|seconds| Timestamp::from_second(seconds).unwrap());
            for recurrence in [Recurrence::Daily, Recurrence::Weekly, Recurrence::Monthly] {
                let zone = find_zone("America/New_York").unwrap();
                let start = Start { instant: start, local: zone.to_datetime(start) };
                let next = Schedule::Every { recurrence, start, zone }.after(Moment::of(time)).unwrap();
                prop_assert!(next.instant().unwrap() > time);
                let before = next.instant().unwrap() - SignedDuration::from_secs(recurrence.seconds_max() + 3 * 3600);
                prop_assert!(before <= time || next.instant().unwrap() == start.instant, "an occurrence was left out");
            }
        }
    }
}
