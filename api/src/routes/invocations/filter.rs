//! The filters of the list and of the search of the history.

use api_kit::error::Error;
use api_kit::extract::{OneOf, PathParameter as _, QueryParameters, Text};
use api_kit::text_types::{FOREIGN_ID, TIME};
use registry::{
    Constraint, Effect, EffectKind, HostPattern, Origin, RunFilter, RunStates, SourceType, ToolId, ToolSelection,
};
use serde_json::json;

use super::call_effects;

const SOURCE_TYPE: OneOf<SourceType> = OneOf(&[
    (SourceType::RegularConversation.as_str(), SourceType::RegularConversation),
    (SourceType::SimulationConversation.as_str(), SourceType::SimulationConversation),
]);

const ORIGIN: OneOf<Origin> = OneOf(&[
    (Origin::Conversation.as_str(), Origin::Conversation),
    (Origin::Direct.as_str(), Origin::Direct),
    (Origin::BranchTest.as_str(), Origin::BranchTest),
    (Origin::Mcp.as_str(), Origin::Mcp),
    (Origin::Agent.as_str(), Origin::Agent),
]);

const ORIGIN_DESCRIPTION: &str = "Only runs of these origins: `conversation` is a conversation that the caller named, \
    `direct` a call without one, `branch-test` the test of a branch, `mcp` and `agent` a call through an agent by MCP or by the \
    HTTP API.";

const STATE: OneOf<RunState> = OneOf(&[("finished", RunState::Finished), ("running", RunState::Running)]);

const STATE_DESCRIPTION: &str = "Only runs in these states. Without it, only runs that have ended. A running run has no \
    `invocation_status`.";

const USER_DESCRIPTION: &str = "Only runs of these users: the user of the conversation, or the caller of a run outside of \
    one.";

const EFFECTS: [(&str, &str, EffectKind); 3] = [
    ("host", "Only runs that sent a request to one of these hosts.", EffectKind::Host),
    ("secret", "Only runs that had one of these secrets.", EffectKind::Secret),
    (
        "refusal",
        "Only runs with one of these refusals: the code of a refused request, such as `denied`, or `status_events`.",
        EffectKind::Refusal,
    ),
];

const USER: Text<String> =
    Text::new(|| json!({"type": "string", "minLength": 1, "maxLength": USER_CHARACTERS_MAX}), check_user);

const NAME: Text<String> =
    Text::new(|| json!({"type": "string", "minLength": 1, "maxLength": NAME_CHARACTERS_MAX}), check_name);

/// Characters of a host name with its port, at most.
const NAME_CHARACTERS_MAX: usize = 300;

/// Characters of a user's id, at most. The id of a conversation's user is another service's.
const USER_CHARACTERS_MAX: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq)]
enum RunState {
    Finished,
    Running,
}

/// Reads all filters except versions, order and page.
pub(super) fn read(query: &mut QueryParameters) -> RunFilter {
    let tools = query.read_distinct("tool_id", "Only runs of these tools.", &ToolId::decoder());
    RunFilter {
        tools: tools.into_iter().map(|tool| ToolSelection { tool, versions: None }).collect(),
        source_types: query.read_distinct("invocation_source_type", "Only runs of these sources.", &SOURCE_TYPE),
        origins: query.read_distinct("origin", ORIGIN_DESCRIPTION, &ORIGIN),
        user_ids: query.read_distinct("user_id", USER_DESCRIPTION, &USER),
        created_after: query.read_one("created_after", "Only runs that started at this time or later.", &TIME),
        created_before: query.read_one("created_before", "Only runs that started before this time.", &TIME),
        conversation_ids: query.read_distinct("conversation_id", "Only runs of these conversations.", &FOREIGN_ID),
        simulation_unit_test_set_run_ids: query.read_distinct(
            "simulation_unit_test_set_run_id",
            "Only runs of these simulations.",
            &FOREIGN_ID,
        ),
        succeeded: query.read_boolean("succeeded", "Only runs that succeeded, or only runs that failed."),
        persisted: query.read_boolean(
            "persisted",
            "Only runs whose output belongs to the log of their conversation, or only other runs.",
        ),
        effects: [read_effects(query), call_effects::read(query)].concat(),
        ..RunFilter::default()
    }
}

/// Reads the states of a list. A search finds only runs that have ended.
pub(super) fn read_states(query: &mut QueryParameters) -> RunStates {
    match query.read_distinct("state", STATE_DESCRIPTION, &STATE).as_slice() {
        [] | [RunState::Finished] => RunStates::Finished,
        [RunState::Running] => RunStates::Running,
        _ => RunStates::All,
    }
}

fn read_effects(query: &mut QueryParameters) -> Vec<Effect> {
    let of_kind = |(parameter, description, kind)| {
        let names = query.read_distinct(parameter, description, &NAME);
        names.into_iter().map(move |name| as_recorded(Effect { kind, name }))
    };
    EFFECTS.into_iter().flat_map(of_kind).collect()
}

/// Adds the constraints to the tools, by position. There must be as many as tools, or none.
pub(super) fn pair_versions(filter: &mut RunFilter, versions: Vec<Constraint>) -> Result<(), Error> {
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

fn check_name(text: &str) -> Result<String, String> {
    check_length(text, NAME_CHARACTERS_MAX)
}

fn check_user(text: &str) -> Result<String, String> {
    check_length(text, USER_CHARACTERS_MAX)
}

fn check_length(text: &str, characters_max: usize) -> Result<String, String> {
    let fits = (1..=characters_max).contains(&text.chars().count());
    fits.then(|| text.to_owned()).ok_or_else(|| format!("should have 1 to {characters_max} characters"))
}
