//! The parts of a list of the history, which are read one after another until a page is full.
//!
//! A list in order of age has one part, which begins with the table that its filter narrows the most. So has a list in another order
//! whose filter leaves few runs: they are read and sorted. Of many runs, those of a page alone are read, from an index that has them
//! in this order, or part by part: the runs that failed and the others, or the runs of one group after those of another.

use super::effect_filters::group_by_kind;
use super::effect_spans::{find_rarest, find_since};
use super::list_start::ListStart;
use super::origin::origin;
use super::run_groups::{RunGroup, SelectedGroups, is_of_group, look_up_groups, sort_groups};
use crate::error::Result;
use crate::history::{Effect, EffectKind, RunFilter, RunSort, RunStates};
use crate::kit::account::OrganizationId;
use crate::kit::clock::Timestamp;
use crate::kit::page::Direction;
use crate::store::database::{Query, Row};
use crate::store::sql::kit::listing::Listing;
use crate::store::sql::kit::row::get;
use crate::store::sql::kit::sequence_order::sort_keys;

/// Of a span of time, the run that so many newer ones follow.
const NTH_BY_AGE: &str = "SELECT s.started_at FROM inv_started s {index inv_started_by_age}
    WHERE s.organization = $1 AND s.started_at >= $2 AND s.started_at < $3 ORDER BY s.started_at DESC LIMIT 1 OFFSET $4";

const NTH_OF_TOOL: &str = "SELECT s.started_at FROM inv_started s {index inv_started_by_tool}
    WHERE s.organization = $1 AND s.started_at >= $2 AND s.started_at < $3 AND s.tool = $5
    ORDER BY s.started_at DESC LIMIT 1 OFFSET $4";

const NTH_OF_USER: &str = "SELECT s.started_at FROM inv_started s {index inv_started_by_user}
    WHERE s.organization = $1 AND s.started_at >= $2 AND s.started_at < $3
        AND substr({field s.source user_id}, 1, 256) = substr(CAST($5 AS TEXT), 1, 256)
    ORDER BY s.started_at DESC LIMIT 1 OFFSET $4";

const NTH_OF_ORIGIN: &str = concat!(
    "SELECT s.started_at FROM inv_started s {index inv_started_by_origin}
    WHERE s.organization = $1 AND s.started_at >= $2 AND s.started_at < $3 AND ",
    origin!(),
    " = $5 ORDER BY s.started_at DESC LIMIT 1 OFFSET $4"
);

/// Runs of a list that follow each other.
#[derive(Debug)]
pub(in crate::store) struct ListPart {
    /// The filter of these runs, in their order.
    pub filter: RunFilter,
    pub start: ListStart,
    /// The outcome that all of them have, if the list is in the order of outcomes.
    has_succeeded: Option<bool>,
    /// The groups that they are of, if the list is in the order of groups.
    groups: Vec<String>,
}

impl ListPart {
    /// Returns the parts in their order. None when no run can match.
    pub async fn look_up_all(
        listing: &mut Listing,
        organization: &OrganizationId,
        filter: &RunFilter,
    ) -> Result<Vec<Self>> {
        let mut parts = Vec::new();
        for (has_succeeded, filter) in split_by_outcome(filter) {
            let mut of_outcome = look_up(listing, organization, as_effects(filter)).await?;
            of_outcome.iter_mut().for_each(|part| part.has_succeeded = has_succeeded);
            parts.append(&mut of_outcome);
        }
        Ok(parts)
    }

    /// Whether a run of the list is of this part.
    pub fn has(&self, run: &Row) -> Result<bool> {
        let is_of_outcome = match self.has_succeeded {
            Some(has_succeeded) => has_succeeded == get::<bool>(run, "succeeded")?,
            None => true,
        };
        let group = get::<&str>(run, "run_group")?;
        Ok(is_of_outcome && (self.groups.is_empty() || self.groups.iter().any(|name| name == group)))
    }

    const fn whole(filter: RunFilter, start: ListStart) -> Self {
        Self { filter, start, has_succeeded: None, groups: Vec::new() }
    }

    fn of_groups(filter: &RunFilter, groups: &[RunGroup]) -> Self {
        let groups: Vec<_> = groups.iter().map(|group| group.name.clone()).collect();
        let mut filter = filter.clone();
        let start = if begins_with_failures(&filter) {
            filter.effects = groups.iter().map(|name| Effect::failed_in(name)).collect();
            (filter.tools, filter.source_types) = (Vec::new(), Vec::new());
            ListStart::Effects(EffectKind::Outcome)
        } else {
            ListStart::Groups(groups.clone())
        };
        Self { filter, start, has_succeeded: None, groups }
    }
}

/// Returns the filter of each outcome, for a list whose first key is the outcome; of other lists, the filter itself.
fn split_by_outcome(filter: &RunFilter) -> Vec<(Option<bool>, RunFilter)> {
    let keys = sort_keys(&filter.sort);
    let Some(((RunSort::Succeeded, direction), rest)) = keys.split_first() else {
        return vec![(None, filter.clone())];
    };
    // The outcome of a run that goes on is the one of those that failed.
    if filter.states != RunStates::Finished {
        return vec![(None, filter.clone())];
    }
    let outcomes = match direction {
        Direction::Ascending => [false, true],
        Direction::Descending => [true, false],
    };
    let wanted = outcomes.into_iter().filter(|outcome| filter.succeeded.is_none_or(|wanted| wanted == *outcome));
    let of = |outcome| RunFilter { succeeded: Some(outcome), sort: rest.to_vec(), ..filter.clone() };
    wanted.map(|outcome| (Some(outcome), of(outcome))).collect()
}

/// Writes that runs failed as an effect, for which there is an index.
fn as_effects(mut filter: RunFilter) -> RunFilter {
    if filter.succeeded == Some(false) {
        filter.succeeded = None;
        filter.effects.push(Effect::failed());
    }
    filter
}

/// Returns the parts of a list with one outcome, or whose order does not begin with it.
async fn look_up(listing: &mut Listing, organization: &OrganizationId, filter: RunFilter) -> Result<Vec<ListPart>> {
    let start = find_narrowest(listing, organization, &filter).await?;
    let keys = sort_keys(&filter.sort);
    let Some((first, _)) = keys.first().filter(|_| keys != [(RunSort::CreatedAt, Direction::Descending)]) else {
        return look_up_newest(listing, organization, filter, start).await;
    };
    if *first == RunSort::CreatedAt || has_few(listing, organization, &filter, &start).await? {
        return Ok(vec![ListPart::whole(filter, start)]);
    }
    if *first == RunSort::DurationMs && filter.states == RunStates::Finished {
        return Ok(vec![ListPart::whole(filter, ListStart::Ends)]);
    }
    let of_group = keys.iter().take_while(|(sort, _)| is_of_group(*sort)).count();
    let selected = match of_group {
        0 => None,
        _ => look_up_groups(listing, organization, &filter).await?,
    };
    let Some(SelectedGroups { groups, .. }) = selected else { return Ok(vec![ListPart::whole(filter, start)]) };
    let (of_group, rest) = keys.split_at(of_group);
    let filter = RunFilter { sort: rest.to_vec(), ..filter };
    Ok(sort_groups(groups, of_group).iter().map(|groups| ListPart::of_groups(&filter, groups)).collect())
}

/// Returns the part of a list in order of age, newest first. None when no run can match.
async fn look_up_newest(
    listing: &mut Listing,
    organization: &OrganizationId,
    filter: RunFilter,
    start: ListStart,
) -> Result<Vec<ListPart>> {
    if is_read_by_group(&filter, &start)
        && let Some(SelectedGroups { groups, are_some: true }) = look_up_groups(listing, organization, &filter).await?
    {
        let part = ListPart::of_groups(&filter, &groups);
        return Ok(if groups.is_empty() { Vec::new() } else { vec![part] });
    }
    Ok(vec![ListPart::whole(filter, start)])
}

/// Whether a filter selects runs by their groups, and no other index has fewer.
fn is_read_by_group(filter: &RunFilter, start: &ListStart) -> bool {
    let RunFilter { tools, source_types, .. } = filter;
    match start {
        ListStart::Effects(_) => begins_with_failures(filter) && !(tools.is_empty() && source_types.is_empty()),
        ListStart::OneTool => !source_types.is_empty() || tools.iter().any(|tool| tool.versions.is_some()),
        ListStart::Age => !(tools.is_empty() && source_types.is_empty()),
        _ => false,
    }
}

/// Whether a filter has no effect but the one that runs failed.
fn begins_with_failures(filter: &RunFilter) -> bool {
    let kinds = group_by_kind(&filter.effects);
    kinds.len() == 1 && kinds.contains_key(&EffectKind::Outcome)
}

/// Returns the table that a filter narrows the most: of several kinds of effects, that which the fewest runs had of late. One user or
/// one origin may have fewer runs than failed.
async fn find_narrowest(listing: &mut Listing, organization: &OrganizationId, filter: &RunFilter) -> Result<ListStart> {
    let ListStart::Effects(kind) = ListStart::of(filter) else { return Ok(ListStart::of(filter)) };
    let start = ListStart::Effects(find_rarest(listing, organization, filter).await?.unwrap_or(kind));
    let other = ListStart::of(&RunFilter { effects: Vec::new(), ..filter.clone() });
    if !begins_with_failures(filter) || !matches!(other, ListStart::OneUser | ListStart::OneOrigin) {
        return Ok(start);
    }
    let failed = find_nth(listing, organization, filter, &start).await?;
    let others = find_nth(listing, organization, filter, &other).await?;
    Ok(if others < failed { other } else { start })
}

/// Whether a list begins with few enough runs to sort all of them.
async fn has_few(
    listing: &mut Listing,
    organization: &OrganizationId,
    filter: &RunFilter,
    start: &ListStart,
) -> Result<bool> {
    Ok(find_nth(listing, organization, filter, start).await?.is_none())
}

/// Returns the start of the run that as many newer ones follow as a list sorts, within the time of a filter; `None` if fewer do.
async fn find_nth(
    listing: &mut Listing,
    organization: &OrganizationId,
    filter: &RunFilter,
    start: &ListStart,
) -> Result<Option<i64>> {
    use ListStart::{Age, Conversations, Effects, Ends, Groups, OneOrigin, OneTool, OneUser, Running, Simulations};
    let after = filter.created_after.map_or(i64::MIN, Timestamp::as_milliseconds);
    let before = filter.created_before.map_or(i64::MAX, Timestamp::as_milliseconds);
    let runs = listing.sorted_runs_max;
    let (text, value) = match start {
        Running | Conversations | Simulations | Groups(_) | Ends => return Ok(None),
        Effects(_) => {
            let since = find_since(listing, organization, filter, start, runs).await?;
            return Ok(since.filter(|since| *since >= after));
        }
        OneUser => (NTH_OF_USER, filter.user_ids.first().map(String::as_str)),
        OneTool => (NTH_OF_TOOL, filter.tools.first().map(|first| first.tool.as_str())),
        OneOrigin => (NTH_OF_ORIGIN, filter.origins.first().map(|origin| origin.as_str())),
        Age => (NTH_BY_AGE, None),
    };
    let mut query = Query::new(text).bind(organization.as_str()).bind(after).bind(before).bind(runs);
    if let Some(value) = value {
        query = query.bind(value);
    }
    listing.row(query).await?.map(|row| get(&row, "started_at")).transpose()
}
