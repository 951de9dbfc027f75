//! The filters of the history by the agent, the native tool and the refusal of a call.

use std::fmt::Display;

use api_kit::extract::{OneOf, PathParameter as _, QueryParameters, Text};
use api_kit::openapi::schemas;
use registry::{AgentId, ClientName, Effect, EffectKind, InvokeStep, NativeToolName, TurnId};
use serde_json::json;

const TURN: Text<TurnId> = Text::of_type(schemas::object_id);

/// The characters that are no control characters.
const CLIENT: Text<ClientName> = Text::of_type(|| {
    let bytes_max = ClientName::BYTES_MAX;
    json!({
        "type": "string", "minLength": 1, "maxLength": bytes_max, "pattern": r"^[^\u0000-\u001f\u007f-\u009f]*$",
        "x-bytes-max": bytes_max,
    })
});

const NATIVE_TOOL: Text<NativeToolName> =
    Text::of_type(|| json!({"type": "string", "maxLength": NativeToolName::BYTES_MAX, "pattern": "^[a-zA-Z0-9_-]+$"}));

const STEP: OneOf<InvokeStep> = OneOf(&STEPS);

const STEPS: [(&str, InvokeStep); InvokeStep::ALL.len()] = {
    let mut steps = [(InvokeStep::Resolve.as_str(), InvokeStep::Resolve); InvokeStep::ALL.len()];
    let mut index = 0;
    while index < steps.len() {
        steps[index] = (InvokeStep::ALL[index].as_str(), InvokeStep::ALL[index]);
        index += 1;
    }
    steps
};

const REFUSED_AT_DESCRIPTION: &str =
    "Only calls that were refused at one of these steps. They failed without a run of the tool.";

pub(super) fn read(query: &mut QueryParameters) -> Vec<Effect> {
    let agents = query.read_distinct("agent_id", "Only calls through these agents.", &AgentId::decoder());
    let clients = query.read_distinct("client", "Only calls of these MCP clients, such as `claude-code 2.1`.", &CLIENT);
    let turns = query.read_distinct("turn_id", "Only calls in these turns of conversations with agents.", &TURN);
    let steps = query.read_distinct("refused_at", REFUSED_AT_DESCRIPTION, &STEP);
    let tools =
        query.read_distinct("native_tool", "Only calls of these tools, which the server provides.", &NATIVE_TOOL);
    let steps: Vec<_> = steps.into_iter().map(InvokeStep::as_str).collect();
    [
        build_effects(EffectKind::Agent, &agents),
        build_effects(EffectKind::Client, &clients),
        build_effects(EffectKind::Turn, &turns),
        build_effects(EffectKind::RefusedAt, &steps),
        build_effects(EffectKind::NativeTool, &tools),
    ]
    .concat()
}

fn build_effects(kind: EffectKind, names: &[impl Display]) -> Vec<Effect> {
    names.iter().map(|name| Effect { kind, name: name.to_string() }).collect()
}
