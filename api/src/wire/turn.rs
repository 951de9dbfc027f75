//! Turns of conversations, with the tools that they present.

use registry::{AgentId, ConversationId, HumanIntervention, InteractionId, SchemaText, ToolId, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::assignment::Assignment;
/// A turn of a conversation. It never changes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    pub id: TurnId,
    pub conversation_id: ConversationId,
    pub agent_id: AgentId,
    /// The running revision at the beginning of the turn.
    pub revision: u32,
    /// Null for an agent without states.
    pub state: Option<String>,
    /// `action`, `decision`, `reflection` or `tool-call`.
    pub state_type: Option<String>,
    /// The presented list of an action state: `action` or `exit-condition`.
    pub list: Option<String>,
    pub interaction_id: InteractionId,
    pub state_transition_index: u32,
    pub tool_call_round_index: u32,
    /// The tools that the model sees in this turn. Calls of the turn are checked against them.
    pub tools: Vec<PresentedTool>,
    /// Tools of the server that can be called in every turn.
    pub system_tools: Vec<SystemTool>,
    #[schemars(extend("format" = "date-time"))]
    pub began_at: String,
}

/// A tool that a turn presents.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PresentedTool {
    /// The name for models, under which the tool is called.
    pub name: String,
    pub tool_id: ToolId,
    /// The API of the tool that the name stands for. Null for a tool of one function.
    pub api: Option<String>,
    /// The version that calls of this turn run.
    pub version: String,
    pub component_digest: String,
    /// The description of the tool, with the additional instruction.
    pub description: String,
    pub input_schema: SchemaText,
    pub output_schema: Option<SchemaText>,
    /// The constraint that selected the version.
    pub version_constraint: String,
    pub additional_instruction: String,
    pub audio_fillers: Vec<String>,
    /// Seconds that the tool runs before the first audio filler.
    pub audio_filler_triggered_after: f64,
    /// `ephemeral`, `persisted-preferred` or `persisted`.
    pub result_persistence: String,
    /// Whether a person confirms calls, besides what the version declares. Absent if nothing is asked for.
    #[serde(default, rename = "humanIntervention", skip_serializing_if = "HumanIntervention::is_empty")]
    pub human_intervention: HumanIntervention,
}

/// A tool of the server.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SystemTool {
    pub name: String,
    pub description: String,
    pub input_schema: Value,
    pub output_schema: Value,
}

impl Turn {
    pub(crate) fn of(turn: agents::Turn, system_tools: Vec<SystemTool>) -> Self {
        let state = turn.state;
        Self {
            id: turn.id,
            conversation_id: turn.conversation.id,
            agent_id: turn.conversation.agent,
            revision: turn.revision.get(),
            state_type: state.as_ref().map(|state| state.state_type.as_str().to_owned()),
            list: state.as_ref().and_then(|state| state.list).map(|list| list.as_str().to_owned()),
            state: state.map(|state| state.name.into()),
            interaction_id: turn.interaction,
            state_transition_index: turn.state_transition_index,
            tool_call_round_index: turn.tool_call_round_index,
            tools: turn.tools.into_iter().map(PresentedTool::from).collect(),
            system_tools,
            began_at: turn.began_at.to_string(),
        }
    }
}

impl From<agents::PresentedTool> for PresentedTool {
    fn from(tool: agents::PresentedTool) -> Self {
        let spec = Assignment::from(tool.spec);
        Self {
            name: tool.name,
            tool_id: spec.tool_id,
            api: tool.api.map(Into::into),
            version: tool.version.to_string(),
            component_digest: tool.component_digest.to_string(),
            description: tool.description,
            input_schema: tool.input_schema,
            output_schema: tool.output_schema,
            version_constraint: spec.version_constraint,
            additional_instruction: spec.additional_instruction,
            audio_fillers: spec.audio_fillers,
            audio_filler_triggered_after: spec.audio_filler_triggered_after,
            result_persistence: spec.result_persistence,
            human_intervention: spec.human_intervention,
        }
    }
}

/// An example of a turn, for the OpenAPI document.
pub(crate) fn turn_example() -> Value {
    let tool = json!({
        "name": "search_orders", "tool_id": "691f3b2a5c1e4d7f8a9b0c1d", "api": null, "version": "1.2.0",
        "component_digest": format!("sha256:{}", "3".repeat(64)), "description": "Finds orders.",
        "input_schema": {"type": "object"}, "output_schema": null, "version_constraint": ">=1.2, <2",
        "additional_instruction": "", "audio_fillers": ["Let me look that up."], "audio_filler_triggered_after": 2.0,
        "result_persistence": "persisted-preferred",
    });
    let system = json!({
        "name": "forward_call", "description": "Asks the application to hand the call over.",
        "input_schema": {"type": "object"}, "output_schema": {"type": "object"},
    });
    json!({
        "id": "691f3d0e5c1e4d7f8a9b0c22", "conversation_id": "691f3d015c1e4d7f8a9b0c20",
        "agent_id": "6ab13d50a3c20f6f6e5d4c3b", "revision": 1, "state": "customer_support", "state_type": "action",
        "list": "action", "interaction_id": "691f3d0e5c1e4d7f8a9b0c21", "state_transition_index": 0,
        "tool_call_round_index": 0, "tools": [tool], "system_tools": [system], "began_at": "2026-11-20T21:40:12.000Z",
    })
}
