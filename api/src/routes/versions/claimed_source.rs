//! The source that the caller of an invocation may claim: a conversation, or a simulation of a conversation.

use api_kit::extract::{Decoder, Fields, Pair, Tagged, Text, WholeNumber};
use api_kit::text_types::FOREIGN_ID;
use registry::{InvocationMetadata, InvocationSource};
use serde_json::{Value, json};

/// Characters of a name of another service: of a user, a state or a state machine.
const NAME_CHARACTERS_MAX: usize = 1_024;

/// Lists of the history are filtered by such names, and some databases have no text with NUL.
const FOREIGN_NAME: Text<String> = Text::new(
    || json!({"type": "string", "maxLength": NAME_CHARACTERS_MAX, "pattern": r"^[^\u0000]*$"}),
    |text| match text.chars().nth(NAME_CHARACTERS_MAX).is_none() && !text.contains('\0') {
        true => Ok(text.to_owned()),
        false => Err(format!("should have at most {NAME_CHARACTERS_MAX} characters, and no NUL")),
    },
);

const WHOLE_NUMBER: WholeNumber = WholeNumber(i64::MIN..=i64::MAX);

const SOURCES: Tagged<InvocationSource> =
    Tagged(&[("regular-conversation", read_conversation), ("simulation-conversation", read_simulation)]);

const METADATA: Tagged<InvocationMetadata> = Tagged(&[
    ("state-transition", read_state_transition),
    ("engage-user", engage_user),
    ("tool-call-state", read_tool_call_state),
]);

/// Decoder of `invocation_source`.
pub(super) fn decoder() -> impl Decoder<Value = InvocationSource> {
    SOURCES.described(
        "The conversation or the simulation that the run belongs to; it becomes part of the record. Absent or null means \
        `direct`, a call by the caller.",
    )
}

/// An example of `invocation_source`.
pub(super) fn example() -> Value {
    json!({
        "type": "regular-conversation", "user_id": "customer-7",
        "conversation_id": "691f3d015c1e4d7f8a9b0c20", "interaction_id": "691f3d0e5c1e4d7f8a9b0c21",
        "invocation_metadata": {
            "type": "engage-user", "current_state_machine_and_version": ["greeting", 3], "tool_call_round_index": 0,
        },
    })
}

fn read_conversation(fields: &mut Fields) -> Option<InvocationSource> {
    let invocation_metadata = read_metadata(fields);
    let user_id = fields.read_required("user_id", FOREIGN_NAME);
    let conversation_id = fields.read_optional("conversation_id", FOREIGN_ID);
    let interaction_id = fields.read_optional("interaction_id", FOREIGN_ID);
    Some(InvocationSource::RegularConversation {
        user_id: user_id?,
        conversation_id,
        interaction_id,
        invocation_metadata: invocation_metadata?,
    })
}

fn read_simulation(fields: &mut Fields) -> Option<InvocationSource> {
    let invocation_metadata = read_metadata(fields);
    let simulation_unit_test_set_run_id = fields.read_optional("simulation_unit_test_set_run_id", FOREIGN_ID);
    let unit_test_id = fields.read_optional("unit_test_id", FOREIGN_ID);
    let run_index = fields.read_optional("run_index", WHOLE_NUMBER);
    Some(InvocationSource::SimulationConversation {
        simulation_unit_test_set_run_id,
        unit_test_id,
        run_index,
        invocation_metadata: invocation_metadata?,
    })
}

fn read_metadata(fields: &mut Fields) -> Option<InvocationMetadata> {
    let description = "The place in an agent's state machine from which the call came.";
    fields.read_required("invocation_metadata", METADATA.described(description))
}

fn read_state_transition(fields: &mut Fields) -> Option<InvocationMetadata> {
    let current_state_machine_and_version = read_machine(fields);
    let state_name = fields.read_required("state_name", FOREIGN_NAME);
    let state_transition_index = fields.read_required("state_transition_index", WHOLE_NUMBER);
    let tool_call_round_index = fields.read_required("tool_call_round_index", WHOLE_NUMBER);
    Some(InvocationMetadata::StateTransition {
        current_state_machine_and_version: current_state_machine_and_version?,
        state_name: state_name?,
        state_transition_index: state_transition_index?,
        tool_call_round_index: tool_call_round_index?,
    })
}

fn engage_user(fields: &mut Fields) -> Option<InvocationMetadata> {
    let current_state_machine_and_version = read_machine(fields);
    let tool_call_round_index = fields.read_required("tool_call_round_index", WHOLE_NUMBER);
    Some(InvocationMetadata::EngageUser {
        current_state_machine_and_version: current_state_machine_and_version?,
        tool_call_round_index: tool_call_round_index?,
    })
}

fn read_tool_call_state(fields: &mut Fields) -> Option<InvocationMetadata> {
    let current_state_machine_and_version = read_machine(fields);
    let state_name = fields.read_required("state_name", FOREIGN_NAME);
    Some(InvocationMetadata::ToolCallState {
        current_state_machine_and_version: current_state_machine_and_version?,
        state_name: state_name?,
    })
}

/// Name and version of the state machine.
fn read_machine(fields: &mut Fields) -> Option<(String, i64)> {
    fields.read_required("current_state_machine_and_version", Pair(FOREIGN_NAME, WHOLE_NUMBER))
}
