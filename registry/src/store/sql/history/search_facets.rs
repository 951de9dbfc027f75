//! The facets of runs in the full-text index: words for what searches are filtered by, so that a search for a frequent word in
//! the runs of a tool or with a host reads no other rows with that word. A facet is a short digest, which another name may
//! share: the filter decides which of the found runs match.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::error::Result;
use crate::history::{Effect, EffectKind, Ledger, RunFilter, ToolSelection};
use crate::kit::clock::Timestamp;
use crate::kit::digest::Digest;
use crate::store::database::Row;
use crate::store::sql::kit::row::{get, read_json};

/// Alternatives of one kind in a search. The facets of more are not looked for.
const ALTERNATIVES_MAX: usize = 16;
/// Hexadecimal digits of a facet.
const DIGITS: usize = 8;

/// The columns of the start `s` that [`start_facets`] reads.
macro_rules! start_columns {
    () => {
        "s.tool, {field s.source user_id} AS user_id, s.agent, s.client, s.native_tool, s.started_at"
    };
}
pub(super) use start_columns;

const TOOL: &str = "tool";
const USER: &str = "user";
/// The kind of hours, for filters by some of them.
const HOUR: &str = "hour";
const DAY: &str = "day";
/// The kind of spans of 32 days, for filters by longer times.
const DAYS: &str = "days";
/// More than the clocks of servers differ.
const CLOCKS_DIFFER_MAX: Duration = Duration::from_hours(1);
const MILLISECOND: Duration = Duration::from_millis(1);
const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// The days of a span, as a power of two.
const SPAN: u32 = 5;

/// The facets of a run.
pub(crate) type Facets = BTreeSet<String>;

/// Returns the facets that are known when a run starts.
pub(super) fn start_facets(row: &Row) -> Result<Facets> {
    let started_at = get::<i64>(row, "started_at")?;
    let [hour, day] = [HOUR_MS, DAY_MS].map(|length| started_at.div_euclid(length));
    let times = [(HOUR, hour), (DAY, day), (DAYS, day >> SPAN)];
    let mut facets: Facets = times.into_iter().map(|(kind, number)| build_number_facet(kind, number)).collect();
    let kinds = [EffectKind::Agent, EffectKind::Client, EffectKind::NativeTool].map(EffectKind::as_str);
    for (kind, column) in [(TOOL, "tool"), (USER, "user_id")].into_iter().chain(kinds.map(|kind| (kind, kind))) {
        facets.extend(get::<Option<&str>>(row, column)?.map(|name| build_facet(kind, name)));
    }
    Ok(facets)
}

/// Returns the facets that are known when a run has ended.
pub(super) fn end_facets(effects: &BTreeSet<Effect>) -> Facets {
    effects.iter().filter_map(build_effect_facet).collect()
}

/// Returns the facets of a run that has ended, from the columns of its record.
pub(super) fn record_facets(row: &Row) -> Result<Facets> {
    let mut effects = match get::<Option<&str>>(row, "ledger")? {
        Some(_) => read_json::<Ledger>(row, "ledger")?.effects(),
        None => BTreeSet::new(),
    };
    let refused_at = get::<Option<String>>(row, EffectKind::RefusedAt.as_str())?;
    effects.extend(refused_at.map(|name| Effect { kind: EffectKind::RefusedAt, name }));
    effects.extend((!get::<bool>(row, "succeeded")?).then(Effect::failed));
    let mut facets = start_facets(row)?;
    facets.append(&mut end_facets(&effects));
    Ok(facets)
}

/// Returns the facets that a filter asks for: one of each inner list.
pub(super) fn collect_wanted(filter: &RunFilter, now: Timestamp) -> Vec<Vec<String>> {
    let failed = (filter.succeeded == Some(false)).then(Effect::failed);
    let tools = filter.tools.iter().map(|ToolSelection { tool, .. }| build_facet(TOOL, tool.as_str()));
    let users = filter.user_ids.iter().map(|user| build_facet(USER, user));
    let mut wanted: Vec<Facets> =
        vec![failed.iter().filter_map(build_effect_facet).collect(), tools.collect(), users.collect()];
    let kinds: BTreeSet<_> = filter.effects.iter().map(|effect| effect.kind).collect();
    let of_kind =
        |kind| filter.effects.iter().filter(move |effect| effect.kind == kind).filter_map(build_effect_facet).collect();
    wanted.extend(kinds.into_iter().map(of_kind));
    wanted.extend(filter.created_after.map(|first| list_times(first, compute_last_time(filter, now))));
    wanted.retain(|names| (1..=ALTERNATIVES_MAX).contains(&names.len()));
    wanted.into_iter().map(|names| names.into_iter().collect()).collect()
}

/// Returns the last time of a filter. Without one it is later than now, by as much as the clocks of servers differ.
fn compute_last_time(filter: &RunFilter, now: Timestamp) -> Timestamp {
    filter.created_before.map_or_else(|| now.after(CLOCKS_DIFFER_MAX), |before| before.before(MILLISECOND))
}

/// Returns the facets of the hours from a time to another one, including both, of days, or of longer spans.
fn list_times(first: Timestamp, last: Timestamp) -> Facets {
    let within = |length: i64| [first, last].map(|time| time.as_milliseconds().div_euclid(length));
    let spans = [(HOUR, within(HOUR_MS)), (DAY, within(DAY_MS)), (DAYS, within(DAY_MS).map(|day| day >> SPAN))];
    let count =
        |[first, last]: [i64; 2]| usize::try_from(last.saturating_sub(first)).map_or(0, |more| more.saturating_add(1));
    let shortest = spans.into_iter().find(|(_, span)| count(*span) <= ALTERNATIVES_MAX);
    shortest.map_or_else(Facets::new, |(kind, [first, last])| {
        (first..=last).map(|number| build_number_facet(kind, number)).collect()
    })
}

fn build_number_facet(kind: &str, number: i64) -> String {
    build_facet(kind, &number.to_string())
}

/// Returns the facet of an effect. A turn has few runs, so that its id would be a word for almost every run.
fn build_effect_facet(effect: &Effect) -> Option<String> {
    (effect.kind != EffectKind::Turn).then(|| build_facet(effect.kind.as_str(), &effect.name))
}

fn build_facet(kind: &str, name: &str) -> String {
    let mut digest = Digest::of(format!("{kind} {name}").as_bytes()).to_hex();
    digest.truncate(DIGITS);
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facets(created_after: Option<Timestamp>, created_before: Option<Timestamp>, now: Timestamp) -> Vec<Vec<String>> {
        collect_wanted(&RunFilter { created_after, created_before, ..RunFilter::default() }, now)
    }

    fn spans(kind: &str, spans: std::ops::RangeInclusive<i64>) -> Vec<Vec<String>> {
        vec![spans.map(|number| build_number_facet(kind, number)).collect::<Facets>().into_iter().collect()]
    }

    #[test]
    fn a_time_that_ends_at_midnight_has_nothing_of_the_next_day() {
        let at = |days: i64, milliseconds: i64| Timestamp::from_milliseconds(days * DAY_MS + milliseconds);
        let of = |after, before| facets(after, before, at(30, 0));
        assert_eq!(of(Some(at(10, 0)), Some(at(11, 0))), spans(DAY, 10..=10));
        assert_eq!(of(Some(at(10, 5)), Some(at(11, 1))), spans(DAY, 10..=11));
        assert_eq!(of(Some(at(10, 0)), Some(at(26, 0))), spans(DAY, 10..=25), "sixteen days");
        assert_eq!(of(Some(at(20, 0)), None), spans(DAY, 20..=30), "until the clocks of all servers have passed");
    }

    #[test]
    fn a_time_of_some_hours_is_found_by_them() {
        let at = |hours: i64, milliseconds: i64| Timestamp::from_milliseconds(hours * HOUR_MS + milliseconds);
        let of = |after, before| facets(after, before, at(1000, 5));
        assert_eq!(of(Some(at(100, 0)), Some(at(100, 600_000))), spans(HOUR, 100..=100), "ten minutes");
        assert_eq!(of(Some(at(100, 3_300_000)), Some(at(101, 300_000))), spans(HOUR, 100..=101));
        assert_eq!(of(Some(at(100, 0)), Some(at(116, 0))), spans(HOUR, 100..=115), "sixteen hours");
        assert_eq!(of(Some(at(100, 0)), Some(at(116, 1))), spans(DAY, 4..=4), "more hours, of one day");
        assert_eq!(of(Some(at(999, 0)), None), spans(HOUR, 999..=1001), "until now");
    }
}
