//! The filters that the list and the search of the history share.

use registry::{
    Constraint, Effect, EffectKind, HostPattern, InvocationFilter, InvocationSourceKind, ToolId, ToolSelection,
};
use serde_json::{Value, json};

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

const HOST: Field = Field::set("host", "Only runs that sent a request to one of these hosts.", name_form);
const SECRET: Field = Field::set("secret", "Only runs that had one of these secrets.", name_form);
const REFUSAL: Field = Field::set(
    "refusal",
    "Only runs that were refused one of these: the code of a request, such as `denied`, or `status_events`.",
    name_form,
);
/// The longest name that a host has, with its port.
const NAME_CHARACTERS_MAX: usize = 300;

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
        effects: effects(query),
        ..InvocationFilter::default()
    }
}

fn effects(query: &mut Parameters) -> Vec<Effect> {
    let kinds = [(&HOST, EffectKind::Host), (&SECRET, EffectKind::Secret), (&REFUSAL, EffectKind::Refusal)];
    let of = |(field, kind)| {
        let names = query.distinct(field, name);
        names.into_iter().map(move |name| Effect { kind, name })
    };
    kinds.into_iter().flat_map(of).map(as_recorded).collect()
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

/// Hosts are recorded as URLs have them.
fn as_recorded(effect: Effect) -> Effect {
    let host = (effect.kind == EffectKind::Host).then(|| HostPattern::parse(&effect.name).ok()).flatten();
    Effect { name: host.map_or(effect.name, |host| host.to_string()), ..effect }
}

fn name_form() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": NAME_CHARACTERS_MAX})
}

fn name(text: &str) -> Result<String, String> {
    let length = text.chars().count();
    let fits = (1..=NAME_CHARACTERS_MAX).contains(&length);
    fits.then(|| text.to_owned()).ok_or_else(|| format!("should have 1 to {NAME_CHARACTERS_MAX} characters"))
}

fn source_kind_form() -> Value {
    form::one_of(&SOURCE_KINDS.map(|kind| (kind.as_str(), kind)))
}

fn source_kind(text: &str) -> Result<InvocationSourceKind, String> {
    let found = SOURCE_KINDS.into_iter().find(|kind| kind.as_str() == text);
    found.ok_or_else(|| format!("should be one of: {}", SOURCE_KINDS.map(InvocationSourceKind::as_str).join(", ")))
}
