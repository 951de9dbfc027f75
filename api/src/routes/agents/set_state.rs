//! `POST /v1/{organization}/agent/{agent_id}/state`: sets a state in the draft.

use agents::{AgentState, AgentStore, Assignment, StateTools, StateType, ToolCallSpecs};
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Decoder as _, Fields, FromBody, InPath, List, Object};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::STATE_NAME;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{AgentId, InvalidValue};
use serde_json::Value;

use super::assign::read_assignment;
use super::fields::STATE_TYPE;
use super::human_intervention::require_usable_rules;
use crate::sections;
use crate::wire::state_example;

const ACTION: &str = "action_tool_call_specs";
const EXIT_CONDITION: &str = "exit_condition_tool_call_specs";
const SPECS: &str = "tool_call_specs";
const DESIGNATED: &str = "designated_tool";

pub(crate) struct Request(AgentState);

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("set-agent-state", sections::AGENTS, "Set a state of an agent")
        .description(
            "Sets a state in the draft, in place of an earlier state of this name. An `action` state has \
            `action_tool_call_specs` and `exit_condition_tool_call_specs`, a `decision` or `reflection` state has \
            `tool_call_specs`, and a `tool-call` state has a `designated_tool` and helpers in `tool_call_specs`. The running \
            revision stays as it is until the next deployment, which checks the tools and their versions. An agent has at most \
            100 states of 1 MiB together.",
        )
        .returns_nothing(204, "Set.")
        .errors(400, &["invalid_value", "too_many"])
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
    Body(Request(state)): Body<Request>,
) -> Result<StatusCode, Error> {
    require_usable_rules(state.specs()).await?;
    store.agents().set_agent_state(&principal, &agent, state).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl FromBody for Request {
    const NAME: &'static str = "SetAgentState";

    fn example() -> Value {
        state_example()
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        fields.mark_parsed_as("agent-state");
        let name = fields.read_required("name", STATE_NAME);
        let state_type = fields.read_required("type", STATE_TYPE);
        let given = Given {
            action: read_specs(fields, ACTION),
            exit_condition: read_specs(fields, EXIT_CONDITION),
            specs: read_specs(fields, SPECS),
            designated: fields
                .read_optional(DESIGNATED, Object(read_assignment).described("The tool that a tool-call state calls.")),
        };
        let tools = given.build_tools(fields, state_type?);
        Some(Self(AgentState { name: name?, tools: tools? }))
    }
}

/// The tools of a state as the body has them.
struct Given {
    action: Option<ToolCallSpecs>,
    exit_condition: Option<ToolCallSpecs>,
    specs: Option<ToolCallSpecs>,
    designated: Option<Assignment>,
}

fn read_specs(fields: &mut Fields, name: &str) -> Option<ToolCallSpecs> {
    let list = List { items: Object(read_assignment), length: 0..=ToolCallSpecs::COUNT_MAX };
    let found = fields.read_optional(name, list.described("Tools that the model sees, each once."))?;
    fields.check_field(name, found.try_into())
}

impl Given {
    /// Returns the tools of a state of this type. Fields of another type are refused.
    fn build_tools(self, fields: &Fields, state_type: StateType) -> Option<StateTools> {
        let given = [
            (ACTION, self.action.is_some()),
            (EXIT_CONDITION, self.exit_condition.is_some()),
            (SPECS, self.specs.is_some()),
            (DESIGNATED, self.designated.is_some()),
        ];
        for (name, _) in
            given.into_iter().filter(|(name, is_given)| *is_given && !list_names(state_type).contains(name))
        {
            fields.check_field::<()>(name, Err(InvalidValue::new("the field", "belongs to states of another type")))?;
        }
        let tool_call_specs = self.specs.unwrap_or_default();
        match state_type {
            StateType::Action => Some(StateTools::Action {
                action_tool_call_specs: self.action.unwrap_or_default(),
                exit_condition_tool_call_specs: self.exit_condition.unwrap_or_default(),
            }),
            StateType::Decision => Some(StateTools::Decision { tool_call_specs }),
            StateType::Reflection => Some(StateTools::Reflection { tool_call_specs }),
            StateType::ToolCall => {
                let missing = InvalidValue::new(DESIGNATED, "is required in a tool-call state");
                let designated = fields.check(self.designated.ok_or(missing))?;
                fields.check_field(SPECS, StateTools::of_tool_call(designated, tool_call_specs))
            }
        }
    }
}

/// The fields with the tools of a state of this type.
const fn list_names(state_type: StateType) -> &'static [&'static str] {
    match state_type {
        StateType::Action => &[ACTION, EXIT_CONDITION],
        StateType::Decision | StateType::Reflection => &[SPECS],
        StateType::ToolCall => &[DESIGNATED, SPECS],
    }
}
