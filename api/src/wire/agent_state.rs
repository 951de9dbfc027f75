//! States of agents.

use agents::{StateTools, ToolCallSpecs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::assignment::{Assignment, assignment_example};

/// A state of an agent: the tools that its model sees in it. Which lists a state has depends on its type.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgentState {
    pub name: String,
    /// `action`, `decision`, `reflection` or `tool-call`.
    #[serde(rename = "type")]
    pub state_type: String,
    /// The tools for acting, of an action state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_tool_call_specs: Option<Vec<Assignment>>,
    /// The tools for finding out whether the agent has finished, of an action state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_condition_tool_call_specs: Option<Vec<Assignment>>,
    /// The tools of a state of another type; in a tool-call state they help to find the parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_specs: Option<Vec<Assignment>>,
    /// The tool that a tool-call state calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub designated_tool: Option<Assignment>,
}

/// The states of a draft.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgentStateList {
    #[schemars(length(max = 100))]
    pub states: Vec<AgentState>,
}

/// An example of a state, for the OpenAPI document.
pub(crate) fn state_example() -> Value {
    json!({
        "name": "customer_support", "type": "action", "action_tool_call_specs": [assignment_example()],
        "exit_condition_tool_call_specs": [],
    })
}

impl From<agents::AgentState> for AgentState {
    fn from(state: agents::AgentState) -> Self {
        let bare = Self {
            name: state.name.into(),
            state_type: state.tools.state_type().as_str().to_owned(),
            action_tool_call_specs: None,
            exit_condition_tool_call_specs: None,
            tool_call_specs: None,
            designated_tool: None,
        };
        match state.tools {
            StateTools::Action { action_tool_call_specs, exit_condition_tool_call_specs } => Self {
                action_tool_call_specs: Some(render_specs(&action_tool_call_specs)),
                exit_condition_tool_call_specs: Some(render_specs(&exit_condition_tool_call_specs)),
                ..bare
            },
            StateTools::Decision { tool_call_specs } | StateTools::Reflection { tool_call_specs } => {
                Self { tool_call_specs: Some(render_specs(&tool_call_specs)), ..bare }
            }
            StateTools::ToolCall { designated_tool, tool_call_specs } => Self {
                designated_tool: Some(Assignment::from(*designated_tool)),
                tool_call_specs: Some(render_specs(&tool_call_specs)),
                ..bare
            },
        }
    }
}

fn render_specs(specs: &ToolCallSpecs) -> Vec<Assignment> {
    specs.iter().cloned().map(Assignment::from).collect()
}
