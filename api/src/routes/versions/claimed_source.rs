//! The source that the caller of an invoke may claim: a conversation, or a simulation of one.

use registry::InvocationSource;
use serde_json::{Value, json};

use crate::extract::{Node, with_whole_numbers};
use crate::openapi::form;
use crate::routes::names::object_id;

pub(super) fn form() -> Value {
    let conversation = source_form(
        "regular-conversation",
        &["user_id"],
        json!({"user_id": form::text(), "conversation_id": id_form(), "interaction_id": id_form()}),
    );
    let simulation = source_form(
        "simulation-conversation",
        &[],
        json!({
            "simulation_unit_test_set_run_id": id_form(), "unit_test_id": id_form(),
            "run_index": form::or_null(whole_form()),
        }),
    );
    json!({
        "description": "On whose account the run happens; it becomes part of the record. Absent or null means the \
            caller's own, `direct`.",
        "anyOf": [conversation, simulation, {"type": "null"}],
    })
}

pub(super) fn example() -> Value {
    json!({
        "type": "regular-conversation", "user_id": "customer-7",
        "conversation_id": "691f3d015c1e4d7f8a9b0c20", "interaction_id": "691f3d0e5c1e4d7f8a9b0c21",
        "invocation_metadata": {
            "type": "engage-user", "current_state_machine_and_version": ["greeting", 3], "tool_call_round_index": 0,
        },
    })
}

fn source_form(kind: &str, required: &[&str], mut properties: Value) -> Value {
    properties["type"] = json!({"const": kind});
    properties["invocation_metadata"] = metadata_form();
    let required = [&["type", "invocation_metadata"], required].concat();
    json!({"type": "object", "required": required, "properties": properties})
}

fn metadata_form() -> Value {
    let metadata = |kind: &str, mut properties: Value| {
        let pair = json!({"type": "array", "prefixItems": [form::text(), whole_form()], "minItems": 2, "maxItems": 2});
        properties["type"] = json!({"const": kind});
        properties["current_state_machine_and_version"] = pair;
        let required: Vec<&String> = properties.as_object().into_iter().flat_map(|map| map.keys()).collect();
        json!({"type": "object", "required": required, "properties": properties})
    };
    let (name, index) = (form::text(), whole_form());
    json!({
        "description": "Where in an agent's state machine the call came from.",
        "anyOf": [
            metadata(
                "state-transition",
                json!({"state_name": name, "state_transition_index": index, "tool_call_round_index": index}),
            ),
            metadata("engage-user", json!({"tool_call_round_index": index})),
            metadata("tool-call-state", json!({"state_name": name})),
        ],
    })
}

fn id_form() -> Value {
    form::or_null(form::object_id())
}

fn whole_form() -> Value {
    json!({"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX})
}

pub(super) fn read(node: &Node) -> Option<InvocationSource> {
    node.object()?;
    // Serde would also take the position of a kind for its name.
    let metadata = node.optional("invocation_metadata");
    for kind in [node.optional("type"), metadata.and_then(|metadata| metadata.optional("type"))].iter().flatten() {
        kind.text()?;
    }
    let source = match serde_json::from_value(with_whole_numbers(node.value().clone())) {
        Ok(source) => source,
        Err(error) => return node.note("value_error", &error.to_string()),
    };
    let ids = match &source {
        InvocationSource::RegularConversation { conversation_id, interaction_id, .. } => {
            [conversation_id, interaction_id]
        }
        InvocationSource::SimulationConversation { simulation_unit_test_set_run_id, unit_test_id, .. } => {
            [simulation_unit_test_set_run_id, unit_test_id]
        }
        InvocationSource::Direct { .. } | InvocationSource::BranchTest { .. } => {
            return node.note("enum", "type should be regular-conversation or simulation-conversation");
        }
    };
    let checked = ids.into_iter().flatten().try_for_each(|id| object_id(id).map(drop));
    match checked {
        Ok(()) => Some(source),
        Err(error) => node.note("value_error", &format!("an id {error}")),
    }
}
