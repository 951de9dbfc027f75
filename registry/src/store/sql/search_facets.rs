//! The facets of runs in the full-text index: words for what searches are filtered by, so that a search for a frequent word in
//! the runs of a tool or with a host reads no other rows with that word. A facet is a short digest, which another name may
//! share: the filter decides which of the found runs match.

use std::collections::BTreeSet;
use std::time::Duration;

use super::row::{get, json};
use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::effect::{Effect, EffectKind};
use crate::error::Result;
use crate::history::{InvocationFilter, ToolSelection};
use crate::ledger::Ledger;
use crate::store::database::Row;

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
const DAY: &str = "day";
/// The kind of spans of 32 days, for filters by longer times.
const DAYS: &str = "days";
const DAY_LENGTH: Duration = Duration::from_hours(24);
const MILLISECOND: Duration = Duration::from_millis(1);
const DAY_MS: i64 = 24 * 3_600_000;
/// The days of a span, as a power of two.
const SPAN: u32 = 5;

/// The facets of a run.
pub(crate) type Facets = BTreeSet<String>;

/// Returns the facets that are known when a run starts.
pub(super) fn start_facets(row: &Row) -> Result<Facets> {
    let day = get::<i64>(row, "started_at")?.div_euclid(DAY_MS);
    let mut facets = Facets::from([number_facet(DAY, day), number_facet(DAYS, day >> SPAN)]);
    let kinds = [EffectKind::Agent, EffectKind::Client, EffectKind::NativeTool].map(EffectKind::as_str);
    for (kind, column) in [(TOOL, "tool"), (USER, "user_id")].into_iter().chain(kinds.map(|kind| (kind, kind))) {
        facets.extend(get::<Option<&str>>(row, column)?.map(|name| facet(kind, name)));
    }
    Ok(facets)
}

/// Returns the facets that are known when a run has ended.
pub(super) fn end_facets(effects: &BTreeSet<Effect>) -> Facets {
    effects.iter().filter_map(facet_of).collect()
}

/// Returns the facets of a run that has ended, from the columns of its record.
pub(super) fn record_facets(row: &Row) -> Result<Facets> {
    let mut effects = match get::<Option<&str>>(row, "ledger")? {
        Some(_) => json::<Ledger>(row, "ledger")?.effects(),
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
pub(super) fn wanted(filter: &InvocationFilter, now: Timestamp) -> Vec<Vec<String>> {
    let failed = (filter.succeeded == Some(false)).then(Effect::failed);
    let tools = filter.tools.iter().map(|ToolSelection { tool, .. }| facet(TOOL, tool.as_str()));
    let users = filter.user_ids.iter().map(|user| facet(USER, user));
    let mut wanted: Vec<Facets> = vec![failed.iter().filter_map(facet_of).collect(), tools.collect(), users.collect()];
    let kinds: BTreeSet<_> = filter.effects.iter().map(|effect| effect.kind).collect();
    let of_kind = |kind| filter.effects.iter().filter(move |effect| effect.kind == kind).filter_map(facet_of).collect();
    wanted.extend(kinds.into_iter().map(of_kind));
    // Clocks of servers differ by less than a day.
    let last = filter.created_before.map_or_else(|| now.after(DAY_LENGTH), |before| before.before(MILLISECOND));
    wanted.extend(filter.created_after.map(|first| times(first, last)));
    wanted.retain(|names| (1..=ALTERNATIVES_MAX).contains(&names.len()));
    wanted.into_iter().map(|names| names.into_iter().collect()).collect()
}

/// Returns the facets of the days from a time to another one, including both, or of longer spans.
fn times(first: Timestamp, last: Timestamp) -> Facets {
    let [first, last] = [first, last].map(|time| time.as_milliseconds().div_euclid(DAY_MS));
    let (kind, first, last) = match last.saturating_sub(first) {
        0..16 => (DAY, first, last),
        _ => (DAYS, first >> SPAN, last >> SPAN),
    };
    let count = usize::try_from(last.saturating_sub(first)).unwrap_or(usize::MAX);
    if count > ALTERNATIVES_MAX {
        Facets::new()
    } else {
        (first..=last).map(|number| number_facet(kind, number)).collect()
    }
}

fn number_facet(kind: &str, number: i64) -> String {
    facet(kind, &number.to_string())
}

/// Returns the facet of an effect. A turn has few runs, so that its id would be a word for almost every run.
fn facet_of(effect: &Effect) -> Option<String> {
    (effect.kind != EffectKind::Turn).then(|| facet(effect.kind.as_str(), &effect.name))
}

/// The migration that added facets computes them in the same way.
fn facet(kind: &str, name: &str) -> String {
    let mut digest = Digest::of(format!("{kind} {name}").as_bytes()).to_hex();
    digest.truncate(DIGITS);
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_ends_at_midnight_has_nothing_of_the_next_day() {
        let at = |days: i64, milliseconds: i64| Timestamp::from_milliseconds(days * DAY_MS + milliseconds);
        let of = |created_after, created_before| {
            let filter = InvocationFilter { created_after, created_before, ..InvocationFilter::default() };
            wanted(&filter, at(30, 0))
        };
        let days = |days: std::ops::RangeInclusive<i64>| {
            vec![days.map(|day| number_facet(DAY, day)).collect::<Facets>().into_iter().collect::<Vec<_>>()]
        };
        assert_eq!(of(Some(at(10, 0)), Some(at(11, 0))), days(10..=10));
        assert_eq!(of(Some(at(10, 5)), Some(at(11, 1))), days(10..=11));
        assert_eq!(of(Some(at(10, 0)), Some(at(26, 0))), days(10..=25), "sixteen days");
        assert_eq!(of(Some(at(20, 0)), None), days(20..=31), "until the clocks of all servers have passed");
    }
}
