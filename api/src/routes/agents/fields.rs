//! Decoders of the fields of agents.

use agents::{
    AgentName, AgentScope, AgentSlug, AgentType, BuiltInTools, FamilyName, StateType, SystemPrompt, ToolExposure,
};
use api_kit::extract::{Decoder as _, Fields, List, OneOf, Text};
use serde_json::{Value, json};

use super::human_intervention;

pub(super) const AGENT_NAME: Text<AgentName> = Text::trimmed(|| build_line_schema(AgentName::BYTES_MAX));

pub(super) const SYSTEM_PROMPT: Text<SystemPrompt> = Text::of_type(|| build_text_schema(SystemPrompt::BYTES_MAX));

pub(super) const SLUG: Text<AgentSlug> = Text::of_type(|| {
    let bytes_max = AgentSlug::BYTES_MAX;
    json!({"type": "string", "minLength": 1, "maxLength": bytes_max, "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"})
});

pub(super) const AGENT_TYPE: OneOf<AgentType> = OneOf(&[
    (AgentType::Agent.as_str(), AgentType::Agent),
    (AgentType::McpGateway.as_str(), AgentType::McpGateway),
    (AgentType::Profile.as_str(), AgentType::Profile),
]);

pub(super) const SCOPE: OneOf<AgentScope> = OneOf(&[
    (AgentScope::Personal.as_str(), AgentScope::Personal),
    (AgentScope::Organization.as_str(), AgentScope::Organization),
]);

pub(super) const STATE_TYPE: OneOf<StateType> = OneOf(&[
    (StateType::Action.as_str(), StateType::Action),
    (StateType::Decision.as_str(), StateType::Decision),
    (StateType::Reflection.as_str(), StateType::Reflection),
    (StateType::ToolCall.as_str(), StateType::ToolCall),
]);

pub(super) const TOOL_EXPOSURE: OneOf<ToolExposure> =
    OneOf(&[(ToolExposure::Full.as_str(), ToolExposure::Full), (ToolExposure::Search.as_str(), ToolExposure::Search)]);

pub(super) const TOOL_EXPOSURE_DESCRIPTION: &str = "`full`: the model sees every tool. `search`: it sees a search for tools, \
    and the tools that it finds.";

pub(super) const BUILT_IN_TOOLS_DESCRIPTION: &str = "The families of the Library that the agent has: `memory`, `rules`, \
    `skills`, `tasks`, `prompts`, `artifacts`, `preferences`. Gateways have none. And which calls of the server's tools a person confirms.";

/// Asks for the lists of families, and for the confirmations of tools.
pub(in crate::routes) fn read_built_in_tools(fields: &mut Fields) -> Option<BuiltInTools> {
    let names = || List { items: FAMILY_NAME, length: 0..=BuiltInTools::NAMES_MAX };
    let disabled = fields.read_optional("disabled", names().described("Families that the agent does not have."));
    let allowed = "The only families that the agent has, apart from those that are disabled. Null for all.";
    let allowed_families = fields.read_optional("allowedFamilies", names().described(allowed));
    let asked = fields.read_optional(human_intervention::FIELD, human_intervention::of_tools()).unwrap_or_default();
    Some(BuiltInTools { disabled: disabled.unwrap_or_default(), allowed_families, human_intervention: asked })
}

const FAMILY_NAME: Text<FamilyName> =
    Text::of_type(|| json!({"type": "string", "minLength": 1, "maxLength": 64, "pattern": "^[a-z0-9_-]+$"}));

/// A text that can be empty.
pub(super) fn build_text_schema(bytes_max: usize) -> Value {
    json!({"type": "string", "maxLength": bytes_max, "pattern": r"^[^\u0000]*$", "x-bytes-max": bytes_max})
}

/// A text that is not empty without the white space around it.
pub(super) fn build_line_schema(bytes_max: usize) -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": bytes_max, "pattern": r"^[^\u0000]*$",
        "x-bytes-max": bytes_max, "x-stripped": true,
    })
}
