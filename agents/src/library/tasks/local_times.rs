//! Local times around changes of the clock. A change leaves times out, or lets them occur twice.

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};

/// Time in which the clock may have been set back several times. The longest known repetition, of a whole day, is shorter.
const SET_BACK_MAX: SignedDuration = SignedDuration::from_hours(48);

/// Finds a time zone in the database of this release, so that all servers have the same.
pub(super) fn find_zone(name: &str) -> Option<TimeZone> {
    TimeZoneDatabase::bundled().get(name).ok()
}

/// Returns the instant at which a local time is due: the first at which the clock shows it, or the change of the clock that leaves it
/// out.
pub(super) fn find_instant(zone: &TimeZone, local: DateTime) -> Option<Timestamp> {
    match zone.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(local).ok(),
        AmbiguousOffset::Fold { before, .. } => before.to_timestamp(local).ok(),
        AmbiguousOffset::Gap { after, .. } => {
            // By the offset that begins with the change, the time lies before the change.
            let before = after.to_timestamp(local).ok()?;
            Some(zone.following(before).next()?.timestamp())
        }
    }
}

/// Whether a change of the clock leaves a local time out.
pub(super) fn is_left_out(zone: &TimeZone, local: DateTime) -> bool {
    matches!(zone.to_ambiguous_timestamp(local).offset(), AmbiguousOffset::Gap { .. })
}

/// Returns the end of the local times that the clock had shown before it was set back. `None` when it was not set back of late.
pub(super) fn find_shown_end(zone: &TimeZone, now: Timestamp) -> Option<DateTime> {
    let second = SignedDuration::from_secs(1);
    let earliest = now.checked_sub(SET_BACK_MAX).ok()?;
    let changes = zone.preceding(now.checked_add(second).ok()?).map(|change| change.timestamp());
    let recent = changes.skip_while(|change| *change > now).take_while(|change| *change > earliest);
    recent.filter_map(|change| Some(zone.to_offset(change.checked_sub(second).ok()?).to_datetime(change))).max()
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Zones with changes of an hour, of half an hour, at midnight, of whole days, and within a year's end or a month of fasting.
    const ZONES: [&str; 14] = [
        "Europe/Berlin",
        "Europe/Dublin",
        "America/New_York",
        "America/Sao_Paulo",
        "America/Santiago",
        "America/Havana",
        "America/St_Johns",
        "America/Caracas",
        "Africa/Casablanca",
        "Asia/Beirut",
        "Asia/Kathmandu",
        "Australia/Lord_Howe",
        "Pacific/Apia",
        "Pacific/Kwajalein",
    ];
    const MINUTE: SignedDuration = SignedDuration::from_mins(1);

    /// A zone, and an instant within two days of one of its changes since 1980.
    pub fn near_a_change() -> impl Strategy<Value = (TimeZone, Timestamp)> {
        (prop::sample::select(&ZONES[..]), 0_usize..200, -2_880_i64..2_880).prop_map(|(name, number, minutes)| {
            let zone = find_zone(name).expect("a zone");
            let start: Timestamp = "1980-01-01T00:00:00Z".parse().expect("a time");
            let changes: Vec<Timestamp> = zone.following(start).take(200).map(|change| change.timestamp()).collect();
            let near = changes[number % changes.len()].checked_add(SignedDuration::from_mins(minutes)).expect("a time");
            (zone, near)
        })
    }

    /// The first instant at which the clock shows a local time or a later one, found minute by minute.
    pub fn find_slowly(zone: &TimeZone, local: DateTime) -> Timestamp {
        let mut time = TimeZone::UTC.to_timestamp(local).expect("a time") - SignedDuration::from_hours(40);
        while zone.to_datetime(time) < local {
            time += MINUTE;
        }
        time
    }

    #[test]
    fn a_time_that_is_left_out_is_due_at_the_change_and_a_double_one_at_the_first() {
        let check = |name: &str, local: &str, expected: &str| {
            let found =
                find_instant(&find_zone(name).expect("a zone"), local.parse().expect("a time")).expect("a time");
            assert_eq!(found.to_string(), expected, "{name} {local}");
        };
        check("Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:00:00Z");
        check("Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30:00Z");
        check("Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:30:00Z");
        check("Pacific/Apia", "2011-12-30T12:00", "2011-12-30T10:00:00Z");
        check("America/Sao_Paulo", "2018-11-04T00:00", "2018-11-04T03:00:00Z");
        check("Asia/Beirut", "2026-03-29T00:10", "2026-03-28T22:00:00Z");
    }

    proptest! {
        #[test]
        fn any_local_time_is_due_when_the_clock_first_shows_it_or_a_later_one(
            (zone, near) in near_a_change(), minutes in -180_i64..1_600,
        ) {
            let local = zone.to_datetime(near).checked_add(SignedDuration::from_mins(minutes)).expect("a time");
            prop_assert_eq!(find_instant(&zone, local), Some(find_slowly(&zone, local)), "{} in {:?}", local, zone.iana_name());
        }
    }
}
