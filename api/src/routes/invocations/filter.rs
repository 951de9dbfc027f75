//! The filters that the list and the search of the history share.

use registry::{Constraint, InvocationFilter, InvocationSourceKind, ToolId, ToolSelection};

use crate::error::Error;
use crate::extract::Parameters;
use crate::routes::names::object_id;

const SOURCE_KINDS: [InvocationSourceKind; 4] = [
    InvocationSourceKind::RegularConversation,
    InvocationSourceKind::SimulationConversation,
    InvocationSourceKind::Direct,
    InvocationSourceKind::BranchTest,
];

/// Reads everything but versions, order and page.
pub(super) fn read(query: &mut Parameters) -> InvocationFilter {
    let tools = query.many("tool_id", ToolId::parse);
    InvocationFilter {
        tools: tools.into_iter().map(|tool| ToolSelection { tool, versions: None }).collect(),
        source_kinds: query.distinct("invocation_source_type", source_kind),
        conversation_ids: query.distinct("conversation_id", object_id),
        simulation_unit_test_set_run_ids: query.distinct("simulation_unit_test_set_run_id", object_id),
        succeeded: query.boolean("succeeded"),
        persisted: query.boolean("persisted"),
        ..InvocationFilter::default()
    }
}

/// Gives each tool the constraint at its position; there are as many as tools, or none.
pub(super) fn pair(filter: &mut InvocationFilter, versions: Vec<Constraint>) -> Result<(), Error> {
    if versions.is_empty() {
        return Ok(());
    }
    if versions.len() != filter.tools.len() {
        let detail = "version and tool_id go in pairs and should occur equally often".into();
        return Err(Error::Refused { code: "version_without_tool", detail });
    }
    for (selection, versions) in filter.tools.iter_mut().zip(versions) {
        selection.versions = Some(versions);
    }
    Ok(())
}

fn source_kind(text: &str) -> Result<InvocationSourceKind, String> {
    let found = SOURCE_KINDS.into_iter().find(|kind| kind.as_str() == text);
    found.ok_or_else(|| format!("should be one of: {}", SOURCE_KINDS.map(InvocationSourceKind::as_str).join(", ")))
}
