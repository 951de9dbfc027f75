//! `lathe__whoami`: the user, the agent and the client of a call.

use futures_util::future::BoxFuture;
use registry::Permission;
use runner::{Outcome, ToolEffect, failed, schema_of};
use schemars::JsonSchema;
use serde::Serialize;

use crate::platform_call::{PlatformCall, PlatformToolSpec};

pub(super) const TOOL: PlatformToolSpec = PlatformToolSpec {
    title: Some("Who am I"),
    description: Some(
        "Returns the organisation and the user on whose behalf this conversation acts, and the agent and the client \
        through which the call came.",
    ),
    permission: Some(Permission::OwnAccount),
    effect: Some(ToolEffect::ReadOnly),
    input_schema: Some(schema_of::<Arguments>),
    output_schema: Some(schema_of::<Identity>),
    handler: Some(handle),
    ..PlatformToolSpec::new("lathe", "lathe__whoami")
};

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Arguments {}

/// The parties of a call.
#[derive(Serialize, JsonSchema)]
struct Identity {
    organization: String,
    user_id: String,
    /// The id of the agent. Null for a call without an agent.
    agent_id: Option<String>,
    /// The running revision of the agent.
    revision: Option<u32>,
    /// Name and version of the MCP client, as it calls itself.
    client: Option<String>,
}

fn handle(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let PlatformCall { principal, agent_call, .. } = call;
        let identity = Identity {
            organization: principal.organization.to_string(),
            user_id: principal.user().into(),
            agent_id: agent_call.as_ref().map(|call| call.agent.to_string()),
            revision: agent_call.as_ref().map(|call| call.revision.get()),
            client: agent_call.and_then(|call| call.client).map(|client| client.to_string()),
        };
        match serde_json::to_string(&identity) {
            Ok(output) => Outcome::Succeeded { output },
            Err(error) => failed("internal", error.to_string()),
        }
    })
}
