//! The documents that a tool is given: its variables, its caller, its place.

use registry::{InvocationId, OrganizationId, Variables};
use serde_json::{Map, Value, json};

use crate::call::{Conversation, Input};

/// The names that the version declares, and no others.
pub fn config(variables: &Variables) -> String {
    let envvars: Map<String, Value> =
        variables.envvars.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
    let secrets: Map<String, Value> =
        variables.secrets.iter().map(|(name, value)| (name.to_string(), json!(value.expose()))).collect();
    json!({ "envvars": envvars, "secrets": secrets }).to_string()
}

pub fn user_variables(input: &Input) -> String {
    json!({
        "nonsensitive": input.nonsensitive_user_variables,
        "sensitive": input.sensitive_user_variables,
    })
    .to_string()
}

pub fn conversation(conversation: Option<&Conversation>) -> String {
    match conversation {
        None => "null".into(),
        Some(Conversation { conversation_id, interaction_id, user_id }) => json!({
            "conversation_id": conversation_id,
            "interaction_id": interaction_id,
            "user_id": user_id,
        })
        .to_string(),
    }
}

/// What a run may know of itself.
pub struct Metadata<'a> {
    pub organization: &'a OrganizationId,
    pub mode: &'static str,
    pub invocation_id: InvocationId,
    pub tool_id: String,
    pub tool_name: &'a str,
    pub version: String,
    /// Milliseconds since the epoch at which the run is stopped.
    pub deadline_ms: i64,
}

pub fn metadata(metadata: &Metadata<'_>) -> String {
    json!({
        "invocation_mode": metadata.mode,
        "invocation_id": metadata.invocation_id.to_string(),
        "tool_id": metadata.tool_id,
        "tool_name": metadata.tool_name,
        "version": metadata.version,
        "organization": metadata.organization.to_string(),
        "deadline_ms": metadata.deadline_ms,
    })
    .to_string()
}
