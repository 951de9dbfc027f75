//! How frequent effects were of late: which of several kinds a list begins with, and in which spans of time it reads the runs with
//! one of several names, or of one of several groups.
//!
//! The runs with one effect are read in order, until a page is full. Those with one of several effects are sorted, so that all of
//! them would be read for each page. They are therefore read in spans, newest first, each with many more runs than the one before:
//! planning the two statements of a span takes longer than reading a page.

use std::collections::BTreeMap;

use serde_json::json;

use super::effect_filters::{Wanted, find_fewest_names, group_by_kind};
use super::list_start::ListStart;
use super::run_group::run_group;
use crate::error::Result;
use crate::history::{EffectKind, RunFilter};
use crate::kit::account::OrganizationId;
use crate::kit::clock::Timestamp;
use crate::store::database::Query;
use crate::store::sql::kit::listing::Listing;
use crate::store::sql::kit::row::{get, to_json};

/// When the run with an effect of each kind began that so many newer ones follow; null if fewer do.
const SINCE: &str = "SELECT wanted.kind, max((
        SELECT o.started_at FROM inv_effects o
        WHERE o.organization = $1 AND o.kind = wanted.kind AND o.name = wanted.name AND o.started_at < $3
        ORDER BY o.started_at DESC, o.invocation DESC LIMIT 1 OFFSET $4
    )) AS since FROM {records $2 kind TEXT, name TEXT} wanted GROUP BY wanted.kind";

/// Like [`SINCE`], for groups of runs.
const SINCE_OF_GROUPS: &str = concat!(
    "SELECT max((
        SELECT s.started_at FROM inv_started s {index inv_started_by_group} WHERE s.organization = $1 AND ",
    run_group!(),
    " = wanted.value AND s.started_at < $3 ORDER BY s.started_at DESC LIMIT 1 OFFSET $4
    )) AS since FROM {members $2} wanted"
);

/// The runs of the first span, with each name.
const RUNS_MIN: i64 = 64;
const GROWTH: i64 = 32;

/// Returns the kind of effects that the fewest runs had of late.
pub(super) async fn find_rarest(
    listing: &mut Listing,
    organization: &OrganizationId,
    filter: &RunFilter,
) -> Result<Option<EffectKind>> {
    let wanted = group_by_kind(&filter.effects);
    if wanted.len() < 2 {
        return Ok(find_fewest_names(filter));
    }
    let since = read_since(listing, organization, &wanted, find_before(filter), RUNS_MIN).await?;
    let rarest = wanted.into_iter().min_by_key(|(kind, names)| (since.get(kind), names.len()));
    Ok(rarest.map(|(kind, _)| kind))
}

/// The spans of time that a list reads, newest first.
pub(in crate::store) struct Spans {
    /// The filter of what is still to be read; `None` when everything is read.
    left: Option<RunFilter>,
    /// What is read in several spans, and the runs of the next one.
    growing: Option<(ListStart, i64)>,
}

impl Spans {
    /// Everything at once.
    pub fn one(filter: &RunFilter) -> Self {
        Self { left: Some(filter.clone()), growing: None }
    }

    /// The runs that a list begins with, which began before a time, newest first.
    pub fn of_start(filter: &RunFilter, start: &ListStart, before: Option<Timestamp>) -> Self {
        let is_single = match start {
            ListStart::Effects(kind) => group_by_kind(&filter.effects).get(kind).is_none_or(|names| names.len() == 1),
            ListStart::Groups(names) => names.len() == 1,
            _ => true,
        };
        if is_single {
            return Self::one(filter);
        }
        let created_before = [filter.created_before, before].into_iter().flatten().min();
        let filter = RunFilter { created_before, ..filter.clone() };
        Self { left: Some(filter), growing: Some((start.clone(), RUNS_MIN)) }
    }

    /// Returns the filter of the next span.
    pub async fn next(&mut self, listing: &mut Listing, organization: &OrganizationId) -> Result<Option<RunFilter>> {
        let Some(left) = self.left.take() else { return Ok(None) };
        let Some((start, runs)) = &mut self.growing else { return Ok(Some(left)) };
        let since = find_since(listing, organization, &left, start, *runs).await?;
        let since = since.map(Timestamp::from_milliseconds).filter(|since| left.created_after < Some(*since));
        *runs = runs.saturating_mul(GROWTH);
        self.left = since.map(|_| RunFilter { created_before: since, ..left.clone() });
        Ok(Some(RunFilter { created_after: since.or(left.created_after), ..left }))
    }
}

/// Returns when the run of a list's start began that so many newer ones follow; `None` if fewer do, or the start has no spans.
pub(super) async fn find_since(
    listing: &mut Listing,
    organization: &OrganizationId,
    filter: &RunFilter,
    start: &ListStart,
    runs: i64,
) -> Result<Option<i64>> {
    match start {
        ListStart::Effects(kind) => {
            let mut wanted = group_by_kind(&filter.effects);
            wanted.retain(|of, _| of == kind);
            let mut since = read_since(listing, organization, &wanted, find_before(filter), runs).await?;
            Ok(since.remove(kind).flatten())
        }
        ListStart::Groups(names) => {
            let query = Query::new(SINCE_OF_GROUPS).bind(organization.as_str()).bind(to_json(names)?);
            let row = listing.row(query.bind(find_before(filter)).bind(runs - 1)).await?;
            row.map_or(Ok(None), |row| get(&row, "since"))
        }
        _ => Ok(None),
    }
}

fn find_before(filter: &RunFilter) -> i64 {
    filter.created_before.map_or(i64::MAX, Timestamp::as_milliseconds)
}

async fn read_since(
    listing: &mut Listing,
    organization: &OrganizationId,
    wanted: &Wanted<'_>,
    before: i64,
    runs: i64,
) -> Result<BTreeMap<EffectKind, Option<i64>>> {
    let names = wanted.iter().flat_map(|(kind, names)| names.iter().map(move |name| (kind, name)));
    let names: Vec<_> = names.map(|(kind, name)| json!({"kind": kind.as_str(), "name": name})).collect();
    let query = Query::new(SINCE).bind(organization.as_str()).bind(to_json(&names)?).bind(before).bind(runs - 1);
    let rows = listing.rows(query).await?;
    let mut since = BTreeMap::new();
    for row in &rows {
        let name = get::<&str>(row, "kind")?;
        if let Some(kind) = wanted.keys().find(|kind| kind.as_str() == name) {
            since.insert(*kind, get(row, "since")?);
        }
    }
    Ok(since)
}
