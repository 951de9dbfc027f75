//! `POST /v1/{organization}/agent`: creates an agent with a draft.

use agents::{AgentScope, AgentStore, NewAgent, SystemPrompt, ToolExposure};
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Decoder as _, Fields, FromBody, Object};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::DESCRIPTION;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::fields::{
    AGENT_NAME, AGENT_TYPE, BUILT_IN_TOOLS_DESCRIPTION, SCOPE, SLUG, SYSTEM_PROMPT, TOOL_EXPOSURE,
    TOOL_EXPOSURE_DESCRIPTION, read_built_in_tools,
};
use crate::sections;
use crate::wire::CreatedAgent;

pub(crate) struct Request(NewAgent);

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("create-agent", sections::AGENTS, "Create an agent")
        .description(
            "Creates an agent without assignments and without a running revision. The caller is its author. The slug is \
            unique among the agents of the organisation, or among the caller's personal agents; the type never changes. A \
            personal agent is seen by its author and by administrators only.",
        )
        .returns::<CreatedAgent>(201, "The agent's id.", json!({"id": "6ab13d50a3c20f6f6e5d4c3b"}))
        .errors(400, &["too_many"])
        .errors(409, &["already_exists"])
        .links_to("get-agent", "agent_id", "/id")
        .links_to("modify-agent", "agent_id", "/id")
        .links_to("assign-tool", "agent_id", "/id")
        .links_to("deploy-agent", "agent_id", "/id")
        .links_to("delete-agent", "agent_id", "/id")
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    Body(Request(agent)): Body<Request>,
) -> Result<(StatusCode, Json<CreatedAgent>), Error> {
    let id = store.agents().create_agent(&principal, agent).await?;
    Ok((StatusCode::CREATED, Json(CreatedAgent { id })))
}

impl FromBody for Request {
    const NAME: &'static str = "CreateAgent";

    fn example() -> Value {
        json!({
            "agent_type": "agent", "name": "Support", "slug": "support", "description": "Answers questions about orders.",
            "scope": "organization", "system_prompt": "You help customers with their orders.",
            "tool_exposure": "full",
        })
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let agent_type = fields.read_required("agent_type", AGENT_TYPE);
        let name = fields.read_required("name", AGENT_NAME);
        let slug = fields.read_required("slug", SLUG.described("The name of the agent in URLs."));
        let description = fields.read_required("description", DESCRIPTION.described("The purpose of the agent."));
        let scope = fields.read_optional("scope", SCOPE.with_default(AgentScope::Personal.as_str()));
        let system_prompt = fields.read_optional("system_prompt", SYSTEM_PROMPT.with_default(""));
        let exposure = TOOL_EXPOSURE.with_default(ToolExposure::Full.as_str());
        let tool_exposure = fields.read_optional("tool_exposure", exposure.described(TOOL_EXPOSURE_DESCRIPTION));
        let built_in_tools =
            fields.read_optional("builtInTools", Object(read_built_in_tools).described(BUILT_IN_TOOLS_DESCRIPTION));
        Some(Self(NewAgent {
            agent_type: agent_type?,
            name: name?,
            slug: slug?,
            description: description?,
            scope: scope.unwrap_or(AgentScope::Personal),
            system_prompt: system_prompt.or_else(|| SystemPrompt::parse("").ok())?,
            tool_exposure: tool_exposure.unwrap_or(ToolExposure::Full),
            built_in_tools: built_in_tools.unwrap_or_default(),
        }))
    }
}
