//! The filters that the list and the search of the history share.

use registry::{Constraint, InvocationFilter, InvocationSourceKind, ToolId, ToolSelection};
use serde_json::Value;

use crate::error::Error;
use crate::extract::{Field, Parameters};
use crate::openapi::form;
use crate::routes::names::object_id;

const SOURCE_KINDS: [InvocationSourceKind; 4] = [
    InvocationSourceKind::RegularConversation,
    InvocationSourceKind::SimulationConversation,
    InvocationSourceKind::Direct,
    InvocationSourceKind::BranchTest,
];

const TOOL_ID: Field = Field::set("tool_id", "Only runs of these tools.", form::object_id);
const SOURCE: Field = Field::set(
    "invocation_source_type",
    "Only runs of these sources: `direct` is a call without a conversation, `branch-test` the test of a branch.",
    source_kind_form,
);
const CONVERSATION: Field = Field::set("conversation_id", "Only runs of these conversations.", form::object_id);
const SIMULATION: Field =
    Field::set("simulation_unit_test_set_run_id", "Only runs of these simulations.", form::object_id);

/// Reads everything but versions, order and page.
pub(super) fn read(query: &mut Parameters) -> InvocationFilter {
    let tools = query.many(&TOOL_ID, ToolId::parse);
    InvocationFilter {
        tools: tools.into_iter().map(|tool| ToolSelection { tool, versions: None }).collect(),
        source_kinds: query.distinct(&SOURCE, source_kind),
        conversation_ids: query.distinct(&CONVERSATION, object_id),
        simulation_unit_test_set_run_ids: query.distinct(&SIMULATION, object_id),
        succeeded: query.boolean("succeeded", "Only runs that succeeded, or only those that failed."),
        persisted: query
            .boolean("persisted", "Only runs whose output belongs to its conversation's log, or only others."),
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

fn source_kind_form() -> Value {
    form::one_of(&SOURCE_KINDS.map(|kind| (kind.as_str(), kind)))
}

fn source_kind(text: &str) -> Result<InvocationSourceKind, String> {
    let found = SOURCE_KINDS.into_iter().find(|kind| kind.as_str() == text);
    found.ok_or_else(|| format!("should be one of: {}", SOURCE_KINDS.map(InvocationSourceKind::as_str).join(", ")))
}
