//! The filters of the list and of the search of the history.

use registry::{
    Constraint, Effect, EffectKind, HostPattern, InvocationFilter, InvocationSourceKind, ToolId, ToolSelection,
};
use serde_json::json;

use crate::error::Error;
use crate::extract::{OneOf, PathParameter as _, QueryParameters, Text};
use crate::routes::text_types::FOREIGN_ID;

const SOURCE_KIND: OneOf<InvocationSourceKind> = OneOf(&[
    (InvocationSourceKind::RegularConversation.as_str(), InvocationSourceKind::RegularConversation),
    (InvocationSourceKind::SimulationConversation.as_str(), InvocationSourceKind::SimulationConversation),
    (InvocationSourceKind::Direct.as_str(), InvocationSourceKind::Direct),
    (InvocationSourceKind::BranchTest.as_str(), InvocationSourceKind::BranchTest),
]);

const SOURCE_DESCRIPTION: &str = "Only runs of these sources: `direct` is a call without a conversation, `branch-test` the \
    test of a branch.";

const EFFECTS: [(&str, &str, EffectKind); 3] = [
    ("host", "Only runs that sent a request to one of these hosts.", EffectKind::Host),
    ("secret", "Only runs that had one of these secrets.", EffectKind::Secret),
    (
        "refusal",
        "Only runs with one of these refusals: the code of a refused request, such as `denied`, or `status_events`.",
        EffectKind::Refusal,
    ),
];

const NAME: Text<String> =
    Text::new(|| json!({"type": "string", "minLength": 1, "maxLength": NAME_CHARACTERS_MAX}), name);

/// Characters of a host name with its port, at most.
const NAME_CHARACTERS_MAX: usize = 300;

/// Reads all filters except versions, order and page.
pub(super) fn read(query: &mut QueryParameters) -> InvocationFilter {
    let tools = query.positional_set("tool_id", "Only runs of these tools.", &ToolId::decoder());
    InvocationFilter {
        tools: tools.into_iter().map(|tool| ToolSelection { tool, versions: None }).collect(),
        source_kinds: query.distinct("invocation_source_type", SOURCE_DESCRIPTION, &SOURCE_KIND),
        conversation_ids: query.distinct("conversation_id", "Only runs of these conversations.", &FOREIGN_ID),
        simulation_unit_test_set_run_ids: query.distinct(
            "simulation_unit_test_set_run_id",
            "Only runs of these simulations.",
            &FOREIGN_ID,
        ),
        succeeded: query.boolean("succeeded", "Only runs that succeeded, or only runs that failed."),
        persisted: query.boolean(
            "persisted",
            "Only runs whose output belongs to the log of their conversation, or only other runs.",
        ),
        effects: effects(query),
        ..InvocationFilter::default()
    }
}

fn effects(query: &mut QueryParameters) -> Vec<Effect> {
    let of_kind = |(parameter, description, kind)| {
        let names = query.distinct(parameter, description, &NAME);
        names.into_iter().map(move |name| as_recorded(Effect { kind, name }))
    };
    EFFECTS.into_iter().flat_map(of_kind).collect()
}

/// Adds the constraints to the tools, by position. There must be as many as tools, or none.
pub(super) fn pair(filter: &mut InvocationFilter, versions: Vec<Constraint>) -> Result<(), Error> {
    if versions.is_empty() {
        return Ok(());
    }
    if versions.len() != filter.tools.len() {
        let detail = "version and tool_id are paired by position and should occur equally often".into();
        return Err(Error::Refused { code: "version_without_tool", detail });
    }
    for (selection, versions) in filter.tools.iter_mut().zip(versions) {
        selection.versions = Some(versions);
    }
    Ok(())
}

/// Writes a host as records have it.
fn as_recorded(effect: Effect) -> Effect {
    let host = (effect.kind == EffectKind::Host).then(|| HostPattern::parse(&effect.name).ok()).flatten();
    Effect { name: host.map_or(effect.name, |host| host.to_string()), ..effect }
}

fn name(text: &str) -> Result<String, String> {
    let length = text.chars().count();
    let fits = (1..=NAME_CHARACTERS_MAX).contains(&length);
    fits.then(|| text.to_owned()).ok_or_else(|| format!("should have 1 to {NAME_CHARACTERS_MAX} characters"))
}
