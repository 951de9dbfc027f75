//! `POST /v1/{organization}/agent/{agent_id}`: changes an agent and its draft.

use agents::{AgentChanges, AgentScope, AgentStore};
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Decoder as _, Fields, FromBody, InPath, Object};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::DESCRIPTION;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{AgentId, Permission};
use serde_json::{Value, json};

use super::fields::{
    AGENT_NAME, BUILT_IN_TOOLS_DESCRIPTION, SCOPE, SLUG, SYSTEM_PROMPT, TOOL_EXPOSURE, TOOL_EXPOSURE_DESCRIPTION,
    read_built_in_tools,
};
use crate::sections;

pub(crate) struct Request(AgentChanges);

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("modify-agent", sections::AGENTS, "Change an agent")
        .description(
            "A field that is absent or null stays unchanged. `system_prompt`, `tool_exposure` and `builtInTools` change the draft, and the \
            running revision stays as it is until the next deployment. All other fields take effect at once. Only the author of \
            an agent and administrators make it personal.",
        )
        .returns_nothing(204, "Changed.")
        .errors(409, &["already_exists"])
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
    Body(Request(changes)): Body<Request>,
) -> Result<StatusCode, Error> {
    if changes.scope == Some(AgentScope::Personal) && !principal.may(Permission::Administer) {
        // The agent would be lost to all other users, and a refused slug would reveal a personal agent of the author.
        let (found, _) = store.agents().get_agent(&principal, &agent).await?.ok_or(Error::NotFound)?;
        if found.author != principal.account {
            return Err(Error::Forbidden { permission: Permission::Administer });
        }
    }
    store.agents().modify_agent(&principal, &agent, changes).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl FromBody for Request {
    const NAME: &'static str = "ModifyAgent";

    fn example() -> Value {
        json!({"system_prompt": "You help customers with their orders. Be brief."})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let name = fields.read_optional("name", AGENT_NAME);
        let slug = fields.read_optional("slug", SLUG);
        let description = fields.read_optional("description", DESCRIPTION);
        let scope = fields.read_optional("scope", SCOPE);
        let system_prompt = fields.read_optional("system_prompt", SYSTEM_PROMPT);
        let tool_exposure = fields.read_optional("tool_exposure", TOOL_EXPOSURE.described(TOOL_EXPOSURE_DESCRIPTION));
        let built_in_tools =
            fields.read_optional("builtInTools", Object(read_built_in_tools).described(BUILT_IN_TOOLS_DESCRIPTION));
        Some(Self(AgentChanges { name, slug, description, scope, system_prompt, tool_exposure, built_in_tools }))
    }
}
