//! `GET /v1/{organization}/agent/{agent_id}/tools`: the tools of the running revision, as model APIs and frameworks take them.

use axum::Json;
use axum::extract::State;
use registry::{AgentId, AgentReference, Store};
use runner::Invoker;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{FromQuery, InPath, OneOf, Query, QueryParameters};
use crate::openapi::{OperationDoc, Tag};
use crate::tool_formats::{ToolFormat, tools};

const FORMAT: OneOf<ToolFormat> = OneOf(&[
    ("mcp", ToolFormat::Mcp),
    ("openai", ToolFormat::OpenAi),
    ("openai-responses", ToolFormat::OpenAiResponses),
    ("anthropic", ToolFormat::Anthropic),
    ("gemini", ToolFormat::Gemini),
    ("lobe", ToolFormat::Lobe),
]);

pub(crate) struct Request {
    format: ToolFormat,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AgentTools")]
pub(crate) struct Response {
    /// The revision whose tools are listed.
    revision: u32,
    /// The definitions, in the requested form and in a fixed order.
    tools: Vec<Value>,
}

pub(crate) fn operation() -> OperationDoc {
    let tool = json!({"name": "search_orders", "description": "Finds orders.", "inputSchema": {"type": "object"}});
    OperationDoc::new("get-agent-tools", Tag::Agents, "List the tools of an agent for a model API")
        .description(
            "Lists the tools of the running revision that the caller may invoke, with the names under which MCP clients call \
            them. 404 before the first deployment. In the forms of OpenAI and Anthropic, `strict` is true for a tool whose input \
            schema the model API can enforce: objects without optional and without additional properties.",
        )
        .returns::<Response>(200, "The tools.", json!({"revision": 1, "tools": [tool]}))
}

pub(crate) async fn handle(
    State(store): State<Store>,
    State(invoker): State<Invoker>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
    Query(Request { format }): Query<Request>,
) -> Result<Json<Response>, Error> {
    let reference = AgentReference::from(&agent);
    let running = store.running_agent(&principal, &reference).await?.ok_or(Error::NotFound)?;
    let revision = running.revision.deployment.number.get();
    let catalogue = invoker.catalogue(&principal, running).await?;
    Ok(Json(Response { revision, tools: tools(&catalogue, format) }))
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        let description = "The form of the definitions; `mcp` by default.";
        Self { format: query.one("format", description, &FORMAT).unwrap_or_default() }
    }
}
