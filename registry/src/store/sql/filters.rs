//! The filters shared by lists and searches of the history.

use std::collections::{BTreeMap, BTreeSet};

use super::dialect::Query;
use super::listing::Listing;
use super::row::{signed, to_list};
use super::versions_list::version_numbers;
use crate::account::OrganizationId;
use crate::clock::Timestamp;
use crate::constraint::Constraint;
use crate::error::Result;
use crate::history::{InvocationFilter, RunStates, ToolSelection};
use crate::ids::ToolId;
use crate::invocation_mode::InvocationMode;
use crate::invocation_source::InvocationSourceKind;
use crate::tool::ToolRef;

/// The filters of lists and searches, `$2` to `$12`, for the organisation in `$of`. Null means any, except for the times
/// `$10` and `$11`. No subquery depends on the record, so each is evaluated once.
macro_rules! filtered {
    ($of:literal) => {
        concat!(
            " AND ($2 IS NULL
                OR s.tool IN (SELECT value ->> 0 FROM ",
            rows_of!("$2"),
            " WHERE value ->> 1 IS NULL)
                OR (s.tool, s.major, s.minor, s.patch) IN (
                    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM ",
            rows_of!("$2"),
            " WHERE value ->> 1 IS NOT NULL))
            AND ($3 IS NULL OR (s.source_kind, s.mode) IN (SELECT value ->> 0, value ->> 1 FROM ",
            rows_of!("$3"),
            "))
            AND ($4 IS NULL OR (u.invocation IS NULL AND s.conversation_id IN ",
            members_of!("$4"),
            "))
            AND ($5 IS NULL OR (u.invocation IS NULL AND s.simulation_run_id IN ",
            members_of!("$5"),
            "))
            AND ($6 IS NULL OR f.succeeded = $6)
            AND ($7 IS NULL OR f.persisted = $7)
            AND ($8 IS NULL OR f.sequence IN (
                SELECT e.sequence FROM ",
            rows_of!("$8"),
            " wanted CROSS JOIN inv_effects e
                WHERE e.organization = ",
            $of,
            " AND e.kind = wanted.value ->> 0 AND e.name = wanted.value ->> 1
                GROUP BY e.sequence HAVING count(DISTINCT e.kind) =
                    (SELECT count(DISTINCT value ->> 0) FROM ",
            rows_of!("$8"),
            ")))
            AND ($9 IS NULL OR s.source ->> 'user_id' IN ",
            members_of!("$9"),
            ")
            AND s.started_at >= $10 AND s.started_at < $11
            AND ($12 IS NULL OR (f.sequence IS NOT NULL) = $12) "
        )
    };
}
pub(super) use filtered;

/// A selected tool with its version: id, major, minor, patch.
type SelectedTool = (String, Option<i64>, Option<i64>, Option<i64>);

/// A filter as JSON arrays and flags, ready to bind.
pub(super) struct Filters {
    tools: Option<String>,
    sources: Option<String>,
    conversations: Option<String>,
    simulations: Option<String>,
    succeeded: Option<bool>,
    persisted: Option<bool>,
    effects: Option<String>,
    users: Option<String>,
    created_after: i64,
    created_before: i64,
    is_finished: Option<bool>,
}

impl Filters {
    /// Converts a filter to the values that the statements bind.
    pub(super) async fn of(
        listing: &mut Listing,
        organization: &OrganizationId,
        filter: &InvocationFilter,
    ) -> Result<Self> {
        let tools: Vec<_> = selected(listing, organization, &filter.tools).await?.into_iter().collect();
        Ok(Self {
            tools: to_list(&tools)?,
            sources: to_list(&sources(filter))?,
            conversations: to_list(&filter.conversation_ids)?,
            simulations: to_list(&filter.simulation_unit_test_set_run_ids)?,
            succeeded: filter.succeeded,
            persisted: filter.persisted,
            effects: to_list(
                &filter.effects.iter().map(|effect| (effect.kind.as_str(), &effect.name)).collect::<Vec<_>>(),
            )?,
            users: to_list(&filter.user_ids)?,
            created_after: filter.created_after.map_or(i64::MIN, Timestamp::as_milliseconds),
            created_before: filter.created_before.map_or(i64::MAX, Timestamp::as_milliseconds),
            is_finished: match filter.states {
                RunStates::Finished => Some(true),
                RunStates::Running => Some(false),
                RunStates::All => None,
            },
        })
    }

    /// Binds `$1` to `$12`.
    pub(super) fn bound_to(self, statement: &'static str, first: String) -> Query {
        let query = sqlx::query(statement).bind(first).bind(self.tools).bind(self.sources).bind(self.conversations);
        let query = query.bind(self.simulations).bind(self.succeeded).bind(self.persisted).bind(self.effects);
        query.bind(self.users).bind(self.created_after).bind(self.created_before).bind(self.is_finished)
    }
}

/// Returns the kinds and modes of the runs with the wanted types and origins. Empty means any.
fn sources(filter: &InvocationFilter) -> Vec<(&'static str, &'static str)> {
    let (types, origins) = (&filter.source_types, &filter.origins);
    if types.is_empty() && origins.is_empty() {
        return Vec::new();
    }
    let all = InvocationSourceKind::ALL.into_iter().flat_map(|kind| InvocationMode::ALL.map(|mode| (kind, mode)));
    let wanted = all.filter(|(kind, mode)| {
        let has_type = types.is_empty() || types.contains(&kind.source_type(*mode));
        has_type && (origins.is_empty() || origins.contains(&kind.origin()))
    });
    wanted.map(|(kind, mode)| (kind.as_str(), mode.as_str())).collect()
}

/// Returns the distinct tools and versions of the selections. A tool without a matching version gets an impossible one.
async fn selected(
    listing: &mut Listing,
    organization: &OrganizationId,
    selections: &[ToolSelection],
) -> Result<BTreeSet<SelectedTool>> {
    let mut constraints: BTreeMap<&ToolId, Vec<&Option<Constraint>>> = BTreeMap::new();
    for ToolSelection { tool, versions } in selections {
        let of_tool = constraints.entry(tool).or_default();
        if !of_tool.contains(&versions) {
            of_tool.push(versions);
        }
    }
    let mut selected = BTreeSet::new();
    for (tool, constraints) in constraints {
        selected.extend(selected_of(listing, ToolRef { organization, tool }, &constraints).await?);
    }
    Ok(selected)
}

async fn selected_of(
    listing: &mut Listing,
    of: ToolRef<'_>,
    constraints: &[&Option<Constraint>],
) -> Result<Vec<SelectedTool>> {
    let row = |numbers: [Option<i64>; 3]| (of.tool.as_str().to_owned(), numbers[0], numbers[1], numbers[2]);
    if constraints.contains(&&None) {
        return Ok(vec![row([None; 3])]);
    }
    let versions = version_numbers(listing, of).await?;
    let mut rows = vec![row([Some(-1); 3])];
    for constraint in constraints.iter().copied().flatten() {
        listing.check()?;
        let matching = versions.iter().filter(|version| constraint.matches(version));
        rows.extend(matching.map(|v| row([v.major, v.minor, v.patch].map(|number| Some(signed(number))))));
    }
    Ok(rows)
}
