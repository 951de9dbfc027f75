//! The times of a cron expression in a time zone.

use std::ops::Range;

use croner::parser::{CronParser, Seconds, Year};
use croner::{CronPattern, Weekday};
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};

use super::cron_problem;
use super::local_times::find_shown_end;

/// Years in which an occurrence is looked for. Every date of the calendar, with every weekday, occurs within 40 years. A cron expression
/// without any occurrence, such as the 30th of February, is found out within a millisecond.
const YEARS: i64 = 40;

/// Checks a cron expression. Returns what is wrong.
pub(super) fn check_cron(expression: &str) -> Result<(), String> {
    let parser = build_parser();
    parser.parse(expression).map(drop).map_err(|error| cron_problem::describe(&parser, expression, &error.to_string()))
}

/// Returns the first time of a cron expression after an instant. `None` when there is none, or for text that is no expression.
///
/// An expression with each hour follows the real time: it is due whenever the clock shows a time of it. Any other expression has local
/// times, each of which is due once.
pub(super) fn find_cron_instant(expression: &str, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
    let pattern = &build_parser().parse(expression).ok()?.pattern;
    let has_each_hour = (0..24).all(|hour| pattern.hour_match(hour).unwrap_or_default());
    let mut offset = zone.to_offset(after);
    let local = offset.to_datetime(after);
    let last = find_last_date(local.date());
    let mut from = next_minute(local)?;
    if !has_each_hour {
        from = find_shown_end(zone, after).map_or(from, |shown| from.max(shown));
    }
    let mut next = find_local(pattern, from, last)?;
    for change in zone.following(after) {
        let instant = offset.to_timestamp(next).ok()?;
        if instant < change.timestamp() {
            return Some(instant);
        }
        let [ended, begun] = [offset, change.offset()].map(|offset| offset.to_datetime(change.timestamp()));
        offset = change.offset();
        if has_each_hour {
            next = match find_repeated(pattern, begun..ended) {
                Some(repeated) => repeated,
                None if next < begun => find_local(pattern, begun, last)?,
                None => next,
            };
        } else if next < begun {
            return Some(change.timestamp());
        }
    }
    offset.to_timestamp(next).ok()
}

/// Returns the first time of an expression among the local times that a change of the clock repeats. The range is empty for a change that
/// leaves times out.
fn find_repeated(pattern: &CronPattern, repeated: Range<DateTime>) -> Option<DateTime> {
    if repeated.is_empty() {
        return None;
    }
    find_local(pattern, repeated.start, repeated.end.date()).filter(|local| *local < repeated.end)
}

/// Returns the first local time of an expression that is not before `from`, up to the end of a date.
fn find_local(pattern: &CronPattern, from: DateTime, last: Date) -> Option<DateTime> {
    let minute = start_of_minute(from)?;
    let from = if minute == from { from } else { next_minute(from)? };
    let date = find_first_date(pattern, from.date(), last)?;
    if date > from.date() {
        return Some(date.to_datetime(find_time(pattern, Time::midnight())?));
    }
    if let Some(today) = find_time(pattern, from.time()) {
        return Some(date.to_datetime(today));
    }
    let date = find_first_date(pattern, date.tomorrow().ok()?, last)?;
    Some(date.to_datetime(find_time(pattern, Time::midnight())?))
}

/// Returns the first date of an expression from a date on, up to another one. `None` for an expression such as the first day of a month and
/// its second Sunday: the search of the library would look at every day until the year 5000.
fn find_first_date(pattern: &CronPattern, from: Date, last: Date) -> Option<Date> {
    let matches = |date: &Date| {
        let weekday = Weekday::from_days_from_sunday(date.weekday().to_sunday_zero_offset().unsigned_abs().into());
        let [month, day] = [date.month(), date.day()].map(|part| u32::from(part.unsigned_abs()));
        let is_in_month = pattern.month_match(month).unwrap_or_default();
        is_in_month && pattern.day_match(date.year().into(), month, day, weekday).unwrap_or_default()
    };
    let days = std::iter::successors(Some(from), |date| date.tomorrow().ok());
    days.take_while(|date| *date <= last).find(matches)
}

/// Returns the first time of day of an expression that is not before `from`.
fn find_time(pattern: &CronPattern, from: Time) -> Option<Time> {
    let has_hour = |hour: &i8| pattern.hour_match(u32::from(hour.unsigned_abs())).unwrap_or_default();
    let has_minute = |minute: &i8| pattern.minute_match(u32::from(minute.unsigned_abs())).unwrap_or_default();
    (from.hour()..24).filter(has_hour).find_map(|hour| {
        let first = if hour == from.hour() { from.minute() } else { 0 };
        (first..60).find(has_minute).and_then(|minute| Time::new(hour, minute, 0, 0).ok())
    })
}

/// The last date on which an occurrence after a date is looked for.
fn find_last_date(from: Date) -> Date {
    from.saturating_add(Span::new().years(YEARS))
}

fn start_of_minute(local: DateTime) -> Option<DateTime> {
    let time = local.time();
    Time::new(time.hour(), time.minute(), 0, 0).ok().map(|time| local.date().to_datetime(time))
}

fn next_minute(local: DateTime) -> Option<DateTime> {
    start_of_minute(local)?.checked_add(SignedDuration::from_mins(1)).ok()
}

/// A parser of five fields: a task is due at most once a minute.
fn build_parser() -> CronParser {
    CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::local_times::find_zone;
    use super::super::local_times::tests::near_a_change;
    use super::*;

    struct Cron<'a> {
        expression: &'a str,
        zone: &'a str,
    }

    impl Cron<'_> {
        /// The next occurrences after a time, with their offsets.
        fn times(&self, after: &str, count: usize) -> Vec<String> {
            let zone = find_zone(self.zone).unwrap();
            let mut time: Timestamp = after.parse().unwrap();
            let next = || {
                time = find_cron_instant(self.expression, &zone, time)?;
                Some(time.to_zoned(zone.clone()).strftime("%m-%d %H:%M %z").to_string())
            };
            std::iter::from_fn(next).take(count).collect()
        }
    }

    fn berlin(expression: &str, after: &str, count: usize) -> Vec<String> {
        Cron { expression, zone: "Europe/Berlin" }.times(after, count)
    }

    const WINTER: &str = "2026-11-26T12:00:00Z";
    const SPRING: &str = "2026-03-28T12:00:00Z";
    const AUTUMN: &str = "2026-10-24T12:00:00Z";

    #[test]
    fn cron_follows_the_clock_of_its_zone() {
        let winter = berlin("30 9 * * 1-5", WINTER, 3);
        assert_eq!(winter, ["11-27 09:30 +0100", "11-30 09:30 +0100", "12-01 09:30 +0100"]);
        assert_eq!(berlin("@daily", WINTER, 1), ["11-27 00:00 +0100"]);
        assert_eq!(berlin("0 0 29 2 *", WINTER, 1), ["02-29 00:00 +0100"]);
    }

    #[test]
    fn times_that_are_left_out_are_due_at_the_change_and_double_ones_once() {
        let check = |expression: &str, after: &str, expected: &[&str]| {
            assert_eq!(berlin(expression, after, expected.len()), expected, "{expression} after {after}");
        };
        check("30 2 * * *", SPRING, &["03-29 03:00 +0200", "03-30 02:30 +0200"]);
        check("30 1,2 * * *", SPRING, &["03-29 01:30 +0100", "03-29 03:00 +0200", "03-30 01:30 +0200"]);
        check("0 2,3 * * *", SPRING, &["03-29 03:00 +0200", "03-30 02:00 +0200"]);
        check("*/20 2 * * *", SPRING, &["03-29 03:00 +0200", "03-30 02:00 +0200"]);
        check("15 1-3 * * *", SPRING, &["03-29 01:15 +0100", "03-29 03:00 +0200", "03-29 03:15 +0200"]);
        check("30 2 * * *", AUTUMN, &["10-25 02:30 +0200", "10-26 02:30 +0100"]);
        check("30 1,2 * * *", AUTUMN, &["10-25 01:30 +0200", "10-25 02:30 +0200", "10-26 01:30 +0100"]);
        check("0 2,3 * * *", AUTUMN, &["10-25 02:00 +0200", "10-25 03:00 +0100"]);
        let thirds = ["10-25 02:00 +0200", "10-25 02:20 +0200", "10-25 02:40 +0200", "10-26 02:00 +0100"];
        check("*/20 2 * * *", AUTUMN, &thirds);
        check("0 */2 * * *", "2026-10-25T00:30:00Z", &["10-25 04:00 +0100"]);
    }

    #[test]
    fn an_expression_with_each_hour_follows_the_real_time() {
        assert_eq!(berlin("30 * * * *", "2026-03-29T00:00:00Z", 2), ["03-29 01:30 +0100", "03-29 03:30 +0200"]);
        let hours = ["10-25 02:30 +0200", "10-25 02:30 +0100", "10-25 03:30 +0100"];
        assert_eq!(berlin("30 * * * *", "2026-10-25T00:00:00Z", 3), hours);
        assert_eq!(berlin("30 0-23 * * *", "2026-10-25T00:00:00Z", 3), hours);
    }

    #[test]
    fn clocks_change_by_half_an_hour_at_midnight_and_over_a_day() {
        let check = |expression: &str, name: &str, after: &str, expected: &[&str]| {
            let found = Cron { expression, zone: name }.times(after, expected.len());
            assert_eq!(found, expected, "{expression} in {name}");
        };
        let lord_howe = ["10-04 01:45 +1030", "10-04 02:30 +1100", "10-04 02:45 +1100"];
        check("15,45 1,2 * * *", "Australia/Lord_Howe", "2026-10-03T15:00:00Z", &lord_howe);
        check("0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00Z", &["11-04 01:00 -0200", "11-05 00:00 -0200"]);
        check("30 23 * * *", "America/Sao_Paulo", "2018-02-17T12:00:00Z", &["02-17 23:30 -0200", "02-18 23:30 -0300"]);
        check("0 9 * * *", "Pacific/Apia", "2011-12-29T12:00:00Z", &["12-29 09:00 -1000", "12-31 00:00 +1400"]);
        check("0,30 0 * * *", "Asia/Beirut", "2026-03-28T12:00:00Z", &["03-29 01:00 +0300", "03-30 00:00 +0300"]);
    }

    #[test]
    fn the_rarest_date_is_found_and_an_impossible_one_is_none() {
        let first = |expression: &str| berlin(expression, "2026-11-26T00:30:00Z", 1).pop();
        assert_eq!(berlin("0 0 29 2 +MON", "2072-03-01T12:00:00Z", 1), ["02-29 00:00 +0100"]);
        for never in ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 1 * +SUN#2", "* * 20 * +MON#1"] {
            assert_eq!(first(never), None, "{never}");
        }
        for (expression, expected) in [
            ("* * * * *", "11-26 01:31 +0100"),
            ("0 0 1 * +SUN#1", "08-01 00:00 +0200"),
            ("0 0 29 2 +MON", "02-29 00:00 +0100"),
            ("0 0 L * *", "11-30 00:00 +0100"),
            ("0 0 31 2 MON", "02-01 00:00 +0100"),
        ] {
            assert_eq!(first(expression).as_deref(), Some(expected), "{expression}");
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

    /// A field of a cron expression, of numbers up to a bound.
    fn field(min: u32, max: u32) -> impl Strategy<Value = String> {
        let number = min..=max;
        prop_oneof![
            Just("*".to_owned()),
            number.clone().prop_map(|number| number.to_string()),
            (number.clone(), number.clone()).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
            (1..=max).prop_map(|step| format!("*/{step}")),
            (number.clone(), number).prop_map(|(a, b)| format!("{a},{b}")),
        ]
    }

    /// The occurrences of an expression in a time, found by a clock that is looked at each minute: those with each hour whenever the
    /// clock shows them; the others when it shows them, or a later time, for the first time.
    fn find_slowly(expression: &str, zone: &TimeZone, within: Range<Timestamp>) -> Vec<Timestamp> {
        let minute = SignedDuration::from_mins(1);
        let pattern = build_parser().parse(expression).unwrap().pattern;
        let matches = |local: DateTime| find_local(&pattern, local, local.date()) == Some(local);
        let has_each_hour = (0..24).all(|hour| pattern.hour_match(hour).unwrap());
        let mut time = within.start - SET_BACK;
        let mut unseen = zone.to_datetime(time);
        let mut found = BTreeSet::new();
        while time < within.end {
            let shown = zone.to_datetime(time);
            if has_each_hour && matches(shown) {
                found.insert(time);
            }
            while unseen <= shown {
                if !has_each_hour && matches(unseen) {
                    found.insert(time);
                }
                unseen += minute;
            }
            time += minute;
        }
        found.into_iter().filter(|time| *time > within.start).collect()
    }

    const SET_BACK: SignedDuration = SignedDuration::from_hours(30);

    proptest! {
        #[test]
        fn all_occurrences_near_a_change_of_any_clock_are_found(
            (zone, after) in near_a_change(), minute in field(0, 59),
            hour in prop_oneof![field(0, 23), field(0, 3), Just("23,0".to_owned())], day in prop_oneof![4 => Just("*".to_owned()), 1 => field(1, 31)],
        ) {
            let expression = format!("{minute} {hour} {day} * *");
            let within = after..after + SignedDuration::from_hours(30);
            let mut time = after;
            let next = || {
                time = find_cron_instant(&expression, &zone, time)?;
                (time < within.end).then_some(time)
            };
            let found: Vec<Timestamp> = std::iter::from_fn(next).collect();
            let expected = find_slowly(&expression, &zone, within.clone());
            prop_assert_eq!(found, expected, "{} in {:?} after {}", expression, zone.iana_name(), after);
        }

        #[test]
        fn an_occurrence_of_any_cron_expression_is_later(
            fields in (field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7)), seconds in 0_i64..8_000_000_000,
        ) {
            let (minute, hour, day, month, weekday) = fields;
            let expression = format!("{minute} {hour} {day} {month} {weekday}");
            let time = Timestamp::from_second(seconds).unwrap();
            if check_cron(&expression).is_ok() {
                let next = find_cron_instant(&expression, &find_zone("Europe/Berlin").unwrap(), time);
                prop_assert!(next.is_none_or(|next| next > time), "{expression}: {next:?}");
            }
        }
    }
}
