//! The groups of runs: a group has the runs of one version of a tool and of one type. An index has the runs of each group in order of
//! age, and an organisation has few groups. A list by the tool, the version or the type of runs is therefore read group by group.

use std::cmp::Ordering;

use super::filters::{Selected, select_tools};
use super::run_group::run_group;
use crate::error::{Error, Result};
use crate::history::{RunFilter, RunSort, SourceType};
use crate::kit::account::OrganizationId;
use crate::kit::clock::Timestamp;
use crate::kit::page::Direction;
use crate::store::database::Query;
use crate::store::sql::kit::listing::Listing;
use crate::store::sql::kit::row::{get, to_signed};

/// Groups of an organisation that a list looks for. Each costs a step in the index; a list with more is read in another way.
const GROUPS_MAX: u64 = 1024;

/// The groups that have runs in a span of time. Each is found by the one before it.
const GROUPS: &str = concat!(
    "WITH RECURSIVE found (name) AS (
        SELECT (SELECT ",
    run_group!(),
    " FROM inv_started s {index inv_started_by_group} WHERE s.organization = $1 ORDER BY ",
    run_group!(),
    " LIMIT 1)
        UNION ALL
        SELECT (SELECT ",
    run_group!(),
    " FROM inv_started s {index inv_started_by_group} WHERE s.organization = $1 AND ",
    run_group!(),
    " > found.name ORDER BY ",
    run_group!(),
    " LIMIT 1) FROM found WHERE found.name IS NOT NULL
    ) SELECT name, CASE WHEN EXISTS (SELECT 1 FROM inv_started s {index inv_started_by_group} WHERE s.organization = $1 AND ",
    run_group!(),
    " = found.name AND s.started_at >= $2 AND s.started_at < $3) THEN 1 ELSE 0 END AS has_runs
    FROM found WHERE name IS NOT NULL LIMIT $4"
);

/// A group of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) struct RunGroup {
    pub name: String,
    /// Empty for runs without a tool.
    tool: String,
    version: [i64; 3],
    source_type: SourceType,
}

/// The groups that a list reads.
pub(super) struct SelectedGroups {
    pub groups: Vec<RunGroup>,
    /// Whether the organisation has others.
    pub are_some: bool,
}

/// Returns the groups whose runs match the tools, versions and types of a filter. `None` for an organisation with too many groups.
pub(super) async fn look_up_groups(
    listing: &mut Listing,
    organization: &OrganizationId,
    filter: &RunFilter,
) -> Result<Option<SelectedGroups>> {
    let after = filter.created_after.map_or(i64::MIN, Timestamp::as_milliseconds);
    let before = filter.created_before.map_or(i64::MAX, Timestamp::as_milliseconds);
    let query = Query::new(GROUPS).bind(organization.as_str()).bind(after).bind(before);
    let rows = listing.rows(query.bind(to_signed(GROUPS_MAX + 1))).await?;
    if rows.len() as u64 > GROUPS_MAX {
        return Ok(None);
    }
    let tools = match filter.tools.as_slice() {
        [] => None,
        tools => Some(select_tools(listing, organization, tools).await?),
    };
    let mut groups = Vec::new();
    for row in &rows {
        let group = RunGroup::parse(get(row, "name")?)?;
        if get::<bool>(row, "has_runs")? && group.matches(tools.as_ref(), &filter.source_types) {
            groups.push(group);
        }
    }
    let are_some = groups.len() < rows.len();
    Ok(Some(SelectedGroups { groups, are_some }))
}

impl RunGroup {
    fn parse(name: &str) -> Result<Self> {
        let damaged = || Error::Corrupt { what: "invocation", detail: format!("the group of runs {name:?}") };
        let mut parts = name.splitn(3, ' ');
        let (tool, version) = (parts.next().unwrap_or_default(), parts.next().ok_or_else(damaged)?);
        let source_type = match parts.next() {
            Some(_) => SourceType::SimulationConversation,
            None => SourceType::RegularConversation,
        };
        let numbers: Option<Vec<i64>> = version.split('.').map(|number| number.parse().ok()).collect();
        let version = numbers.and_then(|numbers| numbers.try_into().ok()).ok_or_else(damaged)?;
        Ok(Self { name: name.to_owned(), tool: tool.to_owned(), version, source_type })
    }

    fn matches(&self, tools: Option<&Selected<'_>>, types: &[SourceType]) -> bool {
        tools.is_none_or(|tools| tools.has(&self.tool, self.version))
            && (types.is_empty() || types.contains(&self.source_type))
    }

    fn compare(&self, other: &Self, sort: RunSort) -> Ordering {
        let is_simulation = |group: &Self| group.source_type == SourceType::SimulationConversation;
        match sort {
            RunSort::ToolId => self.tool.cmp(&other.tool),
            RunSort::Major => self.version[0].cmp(&other.version[0]),
            RunSort::Minor => self.version[1].cmp(&other.version[1]),
            RunSort::Patch => self.version[2].cmp(&other.version[2]),
            RunSort::SourceType => is_simulation(self).cmp(&is_simulation(other)),
            RunSort::CreatedAt | RunSort::DurationMs | RunSort::Succeeded => Ordering::Equal,
        }
    }
}

/// Whether all runs of a group have the same value under a sort key.
pub(super) const fn is_of_group(sort: RunSort) -> bool {
    use RunSort::{Major, Minor, Patch, SourceType, ToolId};
    matches!(sort, ToolId | Major | Minor | Patch | SourceType)
}

/// Returns the groups in the order of some sort keys, those with the same values together.
pub(super) fn sort_groups(mut groups: Vec<RunGroup>, keys: &[(RunSort, Direction)]) -> Vec<Vec<RunGroup>> {
    let compare = |one: &RunGroup, other: &RunGroup| {
        let orders = keys.iter().map(|(sort, direction)| match direction {
            Direction::Ascending => one.compare(other, *sort),
            Direction::Descending => other.compare(one, *sort),
        });
        orders.fold(Ordering::Equal, Ordering::then)
    };
    groups.sort_by(compare);
    groups.chunk_by(|one, other| compare(one, other).is_eq()).map(<[RunGroup]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{Ascending, Descending};

    #[test]
    fn groups_are_sorted_by_numbers_and_those_with_equal_values_are_read_together() {
        let of = |name: &str| RunGroup::parse(name).unwrap();
        let groups = || [" 0.0.0", "b 1.10.0", "a 1.9.0", "b 1.9.0 simulation", "a 2.0.0"].map(of).to_vec();
        let names = |keys: &[(RunSort, Direction)]| -> Vec<Vec<String>> {
            let sorted = sort_groups(groups(), keys);
            sorted.into_iter().map(|equal| equal.into_iter().map(|group| group.name).collect()).collect()
        };
        let by_version = names(&[(RunSort::Major, Descending), (RunSort::Minor, Ascending)]);
        let expected: [&[&str]; 4] = [&["a 2.0.0"], &["a 1.9.0", "b 1.9.0 simulation"], &["b 1.10.0"], &[" 0.0.0"]];
        assert_eq!(by_version, expected);
        let by_tool = names(&[(RunSort::ToolId, Ascending)]);
        let expected: [&[&str]; 3] = [&[" 0.0.0"], &["a 1.9.0", "a 2.0.0"], &["b 1.10.0", "b 1.9.0 simulation"]];
        assert_eq!(by_tool, expected);
        let by_type = names(&[(RunSort::SourceType, Descending)]);
        assert_eq!((by_type.len(), by_type[0].as_slice()), (2, &["b 1.9.0 simulation".to_owned()][..]));
        assert!(RunGroup::parse("a").is_err() && RunGroup::parse("a 1.2").is_err());
    }
}
