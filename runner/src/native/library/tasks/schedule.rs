//! The times of a recurring task.

use croner::parser::{CronParser, Seconds, Year};
use croner::{Cron, Weekday};
use jiff::civil::Date;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Span, Zoned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cron_problem;
use super::moment::Moment;

/// Years in which an occurrence is looked for. Every date of the calendar, with every weekday, occurs within 40 years. A cron expression
/// without any occurrence, such as the 30th of February, is found out within a millisecond.
const YEARS: i16 = 40;
const DAYS_OF_YEAR: usize = 366;

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
    Every { recurrence: Recurrence, start: Zoned },
}

impl Schedule {
    /// The first occurrence after a time. `None` when there is none.
    pub fn after(&self, time: Moment) -> Option<Moment> {
        let time = time.instant()?;
        match self {
            Self::Cron { expression, zone } => {
                let time = time.to_zoned(zone.clone());
                let cron = within_years(expression, time.year())?;
                find_first_date(&cron, time.date())?;
                let next = cron.find_next_occurrence(&time, false).ok()?;
                Some(Moment::of(next.timestamp()))
            }
            Self::Every { recurrence, start } => {
                // No step is shorter than the divisor, but for a change of the clock.
                let passed = time.duration_since(start.timestamp()).as_secs() / recurrence.seconds_max() - 1;
                // The calendar ends.
                let mut steps = (passed.max(0)..).map_while(|step| recurrence.stepped(start, step));
                let next = steps.find(|next| next.timestamp() > time)?;
                Some(Moment::of(next.timestamp()))
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
    fn stepped(self, start: &Zoned, steps: i64) -> Option<Zoned> {
        let span = match self {
            Self::Daily => Span::new().try_days(steps),
            Self::Weekly => Span::new().try_weeks(steps),
            Self::Monthly | Self::Cron => Span::new().try_months(steps),
        };
        start.checked_add(span.ok()?).ok()
    }
}

/// Returns the first date of an expression from a date on, within some years. `None` for an expression such as the first day of a month and
/// its second Sunday: the search of the library would look at every day until the year 5000, whatever the years of the expression are.
fn find_first_date(cron: &Cron, from: Date) -> Option<Date> {
    let matches = |date: &Date| {
        let weekday = Weekday::from_days_from_sunday(date.weekday().to_sunday_zero_offset().unsigned_abs().into());
        let [month, day] = [date.month(), date.day()].map(|part| u32::from(part.unsigned_abs()));
        let is_in_month = cron.pattern.month_match(month).ok()?;
        (is_in_month && cron.pattern.day_match(date.year().into(), month, day, weekday).ok()?).then_some(())
    };
    let days = std::iter::successors(Some(from), |date| date.tomorrow().ok());
    days.take(usize::from(YEARS.unsigned_abs()) * DAYS_OF_YEAR).find(|date| matches(date).is_some())
}

/// Checks a cron expression. Returns what is wrong.
pub(super) fn check_cron(expression: &str) -> Result<(), String> {
    let parser = parser();
    parser.parse(expression).map(drop).map_err(|error| cron_problem::describe(&parser, expression, &error.to_string()))
}

/// Finds a time zone in the database of this release, so that all servers have the same.
pub(super) fn zone(name: &str) -> Option<TimeZone> {
    TimeZoneDatabase::bundled().get(name).ok()
}

/// A parser of five fields: a task is due at most once a minute.
fn parser() -> CronParser {
    CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build()
}

/// The occurrences of an expression within some years.
fn within_years(expression: &str, first: i16) -> Option<Cron> {
    let is_nickname = expression.trim_start().starts_with('@');
    let last = first.saturating_add(YEARS);
    let parsed = match is_nickname {
        true => parser().parse(expression),
        false => CronParser::new().parse(&format!("0 {expression} {first}-{last}")),
    };
    parsed.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cron(expression: &str) -> Schedule {
        Schedule::Cron { expression: expression.to_owned(), zone: zone("Europe/Berlin").unwrap() }
    }

    fn every(recurrence: Recurrence, start: &str) -> Schedule {
        Schedule::Every { recurrence, start: start.parse().unwrap() }
    }

    /// The next occurrences after a time, as local times.
    fn times(schedule: &Schedule, after: &str, count: usize) -> Vec<String> {
        let mut time = Moment::parse(after, &TimeZone::UTC).unwrap();
        let berlin = zone("Europe/Berlin").unwrap();
        let next = || {
            time = schedule.after(time)?;
            Some(time.instant()?.to_zoned(berlin.clone()).strftime("%m-%d %H:%M %z").to_string())
        };
        std::iter::from_fn(next).take(count).collect()
    }

    #[test]
    fn cron_follows_the_clock_of_its_zone() {
        let winter = times(&cron("30 9 * * 1-5"), "2026-11-26T12:00:00Z", 3);
        assert_eq!(winter, ["11-27 09:30 +0100", "11-30 09:30 +0100", "12-01 09:30 +0100"]);
        let spring = times(&cron("30 2 * * *"), "2026-03-28T12:00:00Z", 2);
        assert_eq!(spring, ["03-29 03:00 +0200", "03-30 02:30 +0200"], "an hour that does not exist");
        let autumn = times(&cron("30 2 * * *"), "2026-10-24T12:00:00Z", 2);
        assert_eq!(autumn, ["10-25 02:30 +0200", "10-26 02:30 +0100"], "an hour that occurs twice");
        assert_eq!(times(&cron("@daily"), "2026-11-26T12:00:00Z", 1), ["11-27 00:00 +0100"]);
        assert_eq!(times(&cron("0 0 29 2 *"), "2026-11-26T12:00:00Z", 1), ["02-29 00:00 +0100"]);
    }

    #[test]
    fn the_rarest_date_is_found_and_an_impossible_one_is_none() {
        assert_eq!(times(&cron("0 0 29 2 +MON"), "2072-03-01T12:00:00Z", 1), ["02-29 00:00 +0100"]);
        for never in ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *"] {
            assert!(times(&cron(never), "2026-11-26T12:00:00Z", 1).is_empty(), "{never}");
        }
    }

    #[test]
    fn an_expression_without_any_date_is_found_out_by_its_days() {
        let date = |expression: &str| {
            let from = jiff::civil::date(2026, 11, 26);
            find_first_date(&within_years(expression, 2026).unwrap(), from).map(|date| date.to_string())
        };
        for never in ["0 0 1 * +SUN#2", "* * 20 * +MON#1", "0 0 30 2 *", "0 0 31 2,4,6,9,11 *"] {
            assert_eq!(date(never), None, "{never}");
            assert!(times(&cron(never), "2026-11-26T12:00:00Z", 1).is_empty(), "{never}");
        }
        for (expression, expected) in [
            ("* * * * *", "2026-11-26"),
            ("0 0 1 * +SUN#1", "2027-08-01"),
            ("0 0 29 2 +MON", "2044-02-29"),
            ("0 0 L * *", "2026-11-30"),
            ("0 0 31 2 MON", "2027-02-01"),
        ] {
            assert_eq!(date(expression).as_deref(), Some(expected), "{expression}");
        }
    }

    #[test]
    fn what_is_no_cron_expression_is_refused() {
        let long = "1,".repeat(60) + "1 * * * *";
        for wrong in
            ["", "x", "* * * *", "* * * * * *", "60 * * * *", "*/0 * * * *", "@reboot", "0 0 * * 8", "5-1 * * * *"]
        {
            assert!(check_cron(wrong).is_err(), "{wrong}");
        }
        for right in ["* * * * *", "*/5 8-18 * JAN-MAR MON", "0 0 L * *", "0 0 1W * 5#2", "@hourly", &long] {
            assert!(check_cron(right).is_ok(), "{right}");
        }
    }

    #[test]
    fn days_weeks_and_months_are_counted_from_the_start() {
        let start = "2026-01-31T09:00[Europe/Berlin]";
        let monthly = times(&every(Recurrence::Monthly, start), "2026-01-31T08:00:00Z", 3);
        assert_eq!(monthly, ["02-28 09:00 +0100", "03-31 09:00 +0200", "04-30 09:00 +0200"]);
        let weekly = times(&every(Recurrence::Weekly, start), "2026-03-27T12:00:00Z", 2);
        assert_eq!(weekly, ["03-28 09:00 +0100", "04-04 09:00 +0200"]);
        let daily = times(&every(Recurrence::Daily, start), "2026-10-24T07:00:00Z", 2);
        assert_eq!(daily, ["10-25 09:00 +0100", "10-26 09:00 +0100"]);
        let before = times(&every(Recurrence::Daily, start), "2020-01-01T00:00:00Z", 1);
        assert_eq!(before, ["01-31 09:00 +0100"], "the start is the first one");
    }

    /// A field of a cron expression, of numbers up to a bound.
    fn field(max: u32) -> impl proptest::strategy::Strategy<Value = String> {
        use proptest::prelude::*;
        let number = 0..=max;
        prop_oneof![
            Just("*".to_owned()),
            number.clone().prop_map(|number| number.to_string()),
            (number.clone(), number.clone()).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
            (1..=max).prop_map(|step| format!("*/{step}")),
            (number.clone(), number).prop_map(|(a, b)| format!("{a},{b}")),
        ]
    }

    proptest::proptest! {
        #[test]
        fn an_occurrence_of_any_cron_expression_is_later(
            fields in (field(59), field(23), field(31), field(12), field(7)), seconds in 0_i64..8_000_000_000,
        ) {
            let (minute, hour, day, month, weekday) = fields;
            let expression = format!("{minute} {hour} {day} {month} {weekday}");
            let time = Moment::of(jiff::Timestamp::from_second(seconds).unwrap());
            if check_cron(&expression).is_ok() {
                let next = cron(&expression).after(time);
                proptest::prop_assert!(next.is_none_or(|next| next.0 > time.0), "{expression}: {next:?}");
            }
        }

        #[test]
        fn an_occurrence_is_always_later(time in -60_000_000_000_i64..60_000_000_000, start in 0_i64..60_000_000_000) {
            let [time, start] = [time, start].map(|seconds| jiff::Timestamp::from_second(seconds).unwrap());
            for recurrence in [Recurrence::Daily, Recurrence::Weekly, Recurrence::Monthly] {
                let schedule = Schedule::Every { recurrence, start: start.to_zoned(zone("America/New_York").unwrap()) };
                let next = schedule.after(Moment::of(time)).unwrap();
                proptest::prop_assert!(next.instant().unwrap() > time);
                let before = next.instant().unwrap() - jiff::SignedDuration::from_secs(recurrence.seconds_max() + 3 * 3600);
                proptest::prop_assert!(before <= time || next.instant().unwrap() == start, "an occurrence was left out");
            }
        }
    }
}
