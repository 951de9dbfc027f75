//! The filters shared by lists and searches of the history, as conditions on the start `s`, the end `f` and the rollback `u`
//! of a run. Each condition has subqueries that do not depend on the record, so that they are evaluated once.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::effect_filters::add_effects;
use super::origin::origin;
use crate::error::Result;
use crate::history::{InvocationMode, InvocationSourceKind, RunFilter, RunStates, SourceType, ToolSelection};
use crate::kit::account::OrganizationId;
use crate::kit::clock::Timestamp;
use crate::kit::ids::ToolId;
use crate::kit::invalid_value::refuse_nul;
use crate::store::database::Statement;
use crate::store::sql::kit::listing::Listing;
use crate::store::sql::kit::row::{to_json, to_list, to_signed};
use crate::store::sql::versions::list::list_version_numbers;
use crate::tools::ToolRef;
use crate::versions::Constraint;

const OF_TOOLS: &str = " AND (s.tool IN {members ?}";

const OF_VERSIONS: &str = " OR (s.tool, s.major, s.minor, s.patch) IN (
    SELECT tool, major, minor, patch FROM {records ? tool TEXT, major INTEGER, minor INTEGER, patch INTEGER} versions)";

const FROM_SOURCES: &str =
    " AND (s.source_kind, s.mode) IN (SELECT kind, mode FROM {records ? kind TEXT, mode TEXT} sources)";

const FROM_ORIGINS: &str = concat!(" AND ", origin!(), " IN {members ?}");

const OF_CONVERSATIONS: &str = " AND u.invocation IS NULL AND s.conversation_id IN {members ?}";

const OF_SIMULATIONS: &str = " AND u.invocation IS NULL AND s.simulation_run_id IN {members ?}";

/// The comparison keeps planners from beginning with the table of ends.
pub(in crate::store) const HAS_ENDED: &str = " AND (f.sequence IS NOT NULL) = (1 = 1)";

/// A selected version of a tool.
#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct SelectedVersion<'a> {
    tool: &'a str,
    major: i64,
    minor: i64,
    patch: i64,
}

/// The selected tools, with all versions or with some.
#[derive(Default)]
pub(super) struct Selected<'a> {
    tools: BTreeSet<&'a str>,
    versions: BTreeSet<SelectedVersion<'a>>,
}

/// A filter whose tools' versions have been looked up.
pub(in crate::store) struct Filters<'a> {
    filter: &'a RunFilter,
    /// `None` for a filter without tools.
    selected: Option<Selected<'a>>,
}

impl<'a> Filters<'a> {
    pub async fn look_up(listing: &mut Listing, organization: &OrganizationId, filter: &'a RunFilter) -> Result<Self> {
        refuse_nul_in(filter)?;
        let selected = match filter.tools.as_slice() {
            [] => None,
            tools => Some(select_tools(listing, organization, tools).await?),
        };
        Ok(Self { filter, selected })
    }

    /// Adds the conditions to a statement, whose `$1` is the organisation.
    pub fn add(&self, statement: &mut Statement) -> Result<()> {
        let Self { filter, selected } = self;
        if let Some(selected) = selected {
            add_tools(statement, selected)?;
        }
        if !filter.source_types.is_empty() {
            statement.bind(FROM_SOURCES, to_json(&list_sources(&filter.source_types))?);
        }
        let origins: Vec<_> = filter.origins.iter().map(|origin| origin.as_str()).collect();
        statement.bind_some(FROM_ORIGINS, to_list(&origins)?);
        statement.bind_some(OF_CONVERSATIONS, to_list(&filter.conversation_ids)?);
        statement.bind_some(OF_SIMULATIONS, to_list(&filter.simulation_unit_test_set_run_ids)?);
        statement.bind_some(" AND f.succeeded = ?", filter.succeeded);
        statement.bind_some(" AND f.persisted = ?", filter.persisted);
        add_effects(statement, filter)?;
        statement.bind_some(" AND {field s.source user_id} IN {members ?}", to_list(&filter.user_ids)?);
        statement.bind_some(" AND s.started_at >= ?", filter.created_after.map(Timestamp::as_milliseconds));
        statement.bind_some(" AND s.started_at < ?", filter.created_before.map(Timestamp::as_milliseconds));
        match filter.states {
            RunStates::Finished => statement.push(HAS_ENDED),
            RunStates::Running => statement.push(" AND f.sequence IS NULL"),
            RunStates::All => {}
        }
        Ok(())
    }
}

/// Fails when a text that clients choose freely has a NUL, which some databases refuse.
pub(super) fn refuse_nul_in(filter: &RunFilter) -> Result<()> {
    Ok(refuse_nul("a filter", list_texts(filter))?)
}

/// The texts of a filter that clients choose freely.
fn list_texts(filter: &RunFilter) -> impl Iterator<Item = &str> {
    let ids = [&filter.conversation_ids, &filter.simulation_unit_test_set_run_ids, &filter.user_ids];
    let effects = filter.effects.iter().map(|effect| effect.name.as_str());
    ids.into_iter().flatten().map(String::as_str).chain(effects)
}

fn add_tools(statement: &mut Statement, selected: &Selected<'_>) -> Result<()> {
    statement.bind(OF_TOOLS, to_json(&selected.tools)?);
    if !selected.versions.is_empty() {
        statement.bind(OF_VERSIONS, to_json(&selected.versions)?);
    }
    statement.push(")");
    Ok(())
}

/// A kind and a mode of runs.
#[derive(Serialize)]
struct RunSource {
    kind: &'static str,
    mode: &'static str,
}

/// Returns the kinds and modes of the runs with the wanted types.
fn list_sources(types: &[SourceType]) -> Vec<RunSource> {
    let all = InvocationSourceKind::ALL.into_iter().flat_map(|kind| InvocationMode::ALL.map(|mode| (kind, mode)));
    let wanted = all.filter(|(kind, mode)| types.contains(&kind.source_type(*mode)));
    wanted.map(|(kind, mode)| RunSource { kind: kind.as_str(), mode: mode.as_str() }).collect()
}

impl Selected<'_> {
    /// Whether a version of a tool is selected.
    pub fn has(&self, tool: &str, [major, minor, patch]: [i64; 3]) -> bool {
        self.tools.contains(tool) || self.versions.contains(&SelectedVersion { tool, major, minor, patch })
    }
}

/// Returns the distinct tools and versions of the selections.
pub(super) async fn select_tools<'a>(
    listing: &mut Listing,
    organization: &OrganizationId,
    selections: &'a [ToolSelection],
) -> Result<Selected<'a>> {
    let mut constraints: BTreeMap<&ToolId, Vec<&Option<Constraint>>> = BTreeMap::new();
    for ToolSelection { tool, versions } in selections {
        let of_tool = constraints.entry(tool).or_default();
        if !of_tool.contains(&versions) {
            of_tool.push(versions);
        }
    }
    let mut selected = Selected::default();
    for (tool, constraints) in constraints {
        if constraints.contains(&&None) {
            selected.tools.insert(tool.as_str());
        } else {
            let versions = read_matching(listing, ToolRef { organization, tool }, &constraints).await?;
            selected.versions.extend(versions.into_iter().map(|[major, minor, patch]| SelectedVersion {
                tool: tool.as_str(),
                major,
                minor,
                patch,
            }));
        }
    }
    Ok(selected)
}

/// Returns the numbers of a tool's versions that match one of the constraints.
async fn read_matching(
    listing: &mut Listing,
    of: ToolRef<'_>,
    constraints: &[&Option<Constraint>],
) -> Result<Vec<[i64; 3]>> {
    let versions = list_version_numbers(listing, of).await?;
    let mut found = Vec::new();
    for constraint in constraints.iter().copied().flatten() {
        listing.check()?;
        let matching = versions.iter().filter(|version| constraint.matches(version));
        found.extend(matching.map(|version| [version.major, version.minor, version.patch].map(to_signed)));
    }
    Ok(found)
}
