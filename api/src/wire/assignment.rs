//! Assignments: the tools of agents, and of their states.

use registry::{HumanIntervention, ToolId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A tool of an agent.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Assignment {
    pub tool_id: ToolId,
    /// A PEP 440 constraint. The highest live version that matches counts.
    pub version_constraint: String,
    pub additional_instruction: String,
    pub audio_fillers: Vec<String>,
    /// Seconds that the tool runs before the first audio filler.
    pub audio_filler_triggered_after: f64,
    /// `ephemeral`, `persisted-preferred` or `persisted`.
    pub result_persistence: String,
    /// The `component_digest` that the version must have, such as `sha256:9f86…`. Absent if the assignment pins none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component_digest: Option<String>,
    /// Whether a person confirms calls, besides what the version declares. Absent if nothing is asked for.
    #[serde(default, rename = "humanIntervention", skip_serializing_if = "HumanIntervention::is_empty")]
    pub human_intervention: HumanIntervention,
}

/// The assignments of a draft.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AssignmentList {
    #[schemars(length(max = 500))]
    pub assignments: Vec<Assignment>,
}

/// An example of an assignment, for the OpenAPI document.
pub(crate) fn assignment_example() -> Value {
    json!({
        "tool_id": "691f3b2a5c1e4d7f8a9b0c1d", "version_constraint": ">=1.2, <2",
        "additional_instruction": "Use it only for orders of this year.", "audio_fillers": ["Let me look that up."],
        "audio_filler_triggered_after": 2.0, "result_persistence": "persisted-preferred",
        "component_digest": format!("sha256:{}", "3".repeat(64)), "humanIntervention": "required",
    })
}

impl From<agents::Assignment> for Assignment {
    fn from(assignment: agents::Assignment) -> Self {
        let milliseconds = assignment.audio_filler_triggered_after.as_milliseconds();
        Self {
            tool_id: assignment.tool_id,
            version_constraint: assignment.version_constraint.to_string(),
            additional_instruction: assignment.additional_instruction.into(),
            audio_fillers: assignment.audio_fillers.iter().map(ToString::to_string).collect(),
            audio_filler_triggered_after: f64::from(milliseconds) / 1000.0,
            result_persistence: assignment.result_persistence.as_str().to_owned(),
            component_digest: assignment.component_digest.map(String::from),
            human_intervention: assignment.human_intervention,
        }
    }
}
