//! States of an agent: the tools that its model sees in each state of a conversation.

use registry::{HeapBytes, InvalidValue, heap_bytes, made_of, named_values, text_type};
use serde::{Deserialize, Serialize};

use super::assignment::Assignment;

text_type! {
    /// The name of a state, unique among the states of its agent.
    StateName = "state name", "must be 1 to 64 characters of a-z A-Z 0-9 _ -", |text| {
        made_of(text, StateName::BYTES_MAX, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    };
}

named_values! {
    /// The type of a state.
    StateType = "state type", "must be action, decision, reflection or tool-call" {
        /// The agent acts, and finds out whether it has finished.
        Action = "action",
        /// The agent chooses the next state.
        Decision = "decision",
        /// The agent thinks about the conversation.
        Reflection = "reflection",
        /// The agent calls one designated tool.
        ToolCall = "tool-call",
    }
}

named_values! {
    /// The two lists of tools of an action state.
    SpecList = "list", "must be action or exit-condition" {
        /// Tools for acting.
        Action = "action",
        /// Tools for finding out whether the agent has finished.
        ExitCondition = "exit-condition",
    }
}

impl StateName {
    /// Length of a state's name: a line on a screen.
    pub const BYTES_MAX: usize = 64;
}

/// The tool call specifications of one list, each tool once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Assignment>")]
pub struct ToolCallSpecs(Vec<Assignment>);

impl ToolCallSpecs {
    /// Specifications of one list. Models choose badly among more than about a hundred tools that they see at once.
    pub const COUNT_MAX: usize = 100;

    pub fn iter(&self) -> impl Iterator<Item = &Assignment> {
        self.0.iter()
    }
}

impl TryFrom<Vec<Assignment>> for ToolCallSpecs {
    type Error = InvalidValue;

    fn try_from(specs: Vec<Assignment>) -> Result<Self, InvalidValue> {
        let is_once = |(index, spec): (usize, &Assignment)| specs[..index].iter().all(|s| s.tool_id != spec.tool_id);
        let is_right = specs.len() <= Self::COUNT_MAX && specs.iter().enumerate().all(is_once);
        let wrong = InvalidValue::new("tool call specs", "must be at most 100, and must name each tool once");
        is_right.then_some(Self(specs)).ok_or(wrong)
    }
}

/// A state of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentState {
    pub name: StateName,
    #[serde(flatten)]
    pub tools: StateTools,
}

/// The tools of a state, by its type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum StateTools {
    Action {
        action_tool_call_specs: ToolCallSpecs,
        exit_condition_tool_call_specs: ToolCallSpecs,
    },
    Decision {
        tool_call_specs: ToolCallSpecs,
    },
    Reflection {
        tool_call_specs: ToolCallSpecs,
    },
    ToolCall {
        designated_tool: Box<Assignment>,
        /// Tools that help to find the parameters of the designated tool.
        tool_call_specs: ToolCallSpecs,
    },
}

impl AgentState {
    /// States of one agent. A conversation is in one of them at a time, and people who edit them read all.
    pub const COUNT_MAX: u32 = 100;
    /// Bytes of the states of one agent, as JSON. Each revision keeps all of them, and every call reads them.
    pub const BYTES_MAX: usize = 1024 * 1024;

    /// Iterates over the specifications of all lists.
    pub fn specs(&self) -> impl Iterator<Item = &Assignment> {
        let (designated, first, second) = match &self.tools {
            StateTools::Action { action_tool_call_specs, exit_condition_tool_call_specs } => {
                (None, action_tool_call_specs, Some(exit_condition_tool_call_specs))
            }
            StateTools::Decision { tool_call_specs } | StateTools::Reflection { tool_call_specs } => {
                (None, tool_call_specs, None)
            }
            StateTools::ToolCall { designated_tool, tool_call_specs } => {
                (Some(&**designated_tool), tool_call_specs, None)
            }
        };
        designated.into_iter().chain(first.iter()).chain(second.into_iter().flat_map(ToolCallSpecs::iter))
    }
}

impl StateTools {
    /// Returns the tools of a tool-call state. Its helpers do not have the designated tool.
    pub fn of_tool_call(designated: Assignment, helpers: ToolCallSpecs) -> Result<Self, InvalidValue> {
        if helpers.iter().any(|helper| helper.tool_id == designated.tool_id) {
            return Err(InvalidValue::new("tool call specs", "must not name the designated tool again"));
        }
        Ok(Self::ToolCall { designated_tool: Box::new(designated), tool_call_specs: helpers })
    }

    pub const fn state_type(&self) -> StateType {
        match self {
            Self::Action { .. } => StateType::Action,
            Self::Decision { .. } => StateType::Decision,
            Self::Reflection { .. } => StateType::Reflection,
            Self::ToolCall { .. } => StateType::ToolCall,
        }
    }
}

heap_bytes! {
    AgentState { name, tools }
}

impl HeapBytes for ToolCallSpecs {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

impl HeapBytes for StateTools {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Action { action_tool_call_specs, exit_condition_tool_call_specs } => {
                action_tool_call_specs.heap_bytes() + exit_condition_tool_call_specs.heap_bytes()
            }
            Self::Decision { tool_call_specs } | Self::Reflection { tool_call_specs } => tool_call_specs.heap_bytes(),
            Self::ToolCall { designated_tool, tool_call_specs } => {
                designated_tool.heap_bytes() + tool_call_specs.heap_bytes()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn spec(tool: char) -> Value {
        json!({
            "tool_id": tool.to_string().repeat(24), "version_constraint": ">=1.0.0",
            "additional_instruction": "Search the knowledge base.", "audio_fillers": ["Let me search for that."],
            "audio_filler_triggered_after": 2000, "result_persistence": "persisted-preferred",
        })
    }

    #[test]
    fn states_are_stored_and_read_back() {
        for state in [
            json!({
                "name": "support", "type": "action", "action_tool_call_specs": [spec('a'), spec('b')],
                "exit_condition_tool_call_specs": [spec('a')],
            }),
            json!({"name": "route", "type": "decision", "tool_call_specs": [spec('a')]}),
            json!({"name": "think", "type": "reflection", "tool_call_specs": []}),
            json!({"name": "book", "type": "tool-call", "designated_tool": spec('a'), "tool_call_specs": [spec('b')]}),
        ] {
            let read: AgentState = serde_json::from_value(state.clone()).unwrap();
            assert_eq!(serde_json::to_value(&read).unwrap(), state);
            assert_eq!(read.tools.state_type().as_str(), state["type"]);
        }
    }

    #[test]
    fn a_list_names_each_tool_once() {
        let specs = |tools: &str| -> Result<ToolCallSpecs, _> {
            ToolCallSpecs::try_from(
                tools.chars().map(|tool| serde_json::from_value(spec(tool)).unwrap()).collect::<Vec<_>>(),
            )
        };
        assert!(specs("abc").is_ok() && specs("aba").is_err());
        let designated: Assignment = serde_json::from_value(spec('a')).unwrap();
        assert!(StateTools::of_tool_call(designated.clone(), specs("b").unwrap()).is_ok());
        assert!(StateTools::of_tool_call(designated, specs("ba").unwrap()).is_err());
    }
}
