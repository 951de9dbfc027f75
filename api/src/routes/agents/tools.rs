//! `GET /v1/{organization}/agent/{agent_id}/tools`: the tools of the running revision, as model APIs and frameworks take them, in
//! pages.

use agents::{AgentReference, AgentStore, Catalogue, Catalogues, RunningAgent};
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{FromQuery, InPath, OneOf, Query, QueryParameters};
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use registry::{AgentId, Page};
use serde_json::json;

use crate::sections;
use crate::tool_formats::{Definitions, ToolFormat, render_definitions};
use crate::wire::AgentTools;
use crate::work::FinalResponse;

const FORMAT: OneOf<ToolFormat> = OneOf(&[
    ("mcp", ToolFormat::Mcp),
    ("openai", ToolFormat::OpenAi),
    ("openai-responses", ToolFormat::OpenAiResponses),
    ("anthropic", ToolFormat::Anthropic),
    ("gemini", ToolFormat::Gemini),
    ("lobe", ToolFormat::Lobe),
]);

/// Definitions of one page, which are those of most agents.
const LIMIT_MAX: u64 = 500;

pub(crate) struct Request {
    format: ToolFormat,
    page: Page,
}

pub(crate) fn operation() -> OperationDoc {
    let tool = json!({"name": "search_orders", "description": "Finds orders.", "inputSchema": {"type": "object"}});
    let example =
        json!({"revision": 1, "tools": [tool], "left_out": [], "has_more": false, "continuation_token": null});
    OperationDoc::new("get-agent-tools", sections::AGENTS, "List the tools of an agent for a model API")
        .description(
            "Lists the tools of the running revision that the caller may invoke, with the names under which MCP clients call \
            them. 404 before the first deployment. In the forms of OpenAI and Anthropic, `strict` is true for a tool whose input \
            schema the model API can enforce: objects without optional and without additional properties. A page ends after \
            8 MiB, whatever the limit. The token of a page ends with a change of the tools; begin again then.",
        )
        .returns::<AgentTools>(200, "One page of the list.", example)
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    State(catalogues): State<Catalogues>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
    Query(Request { format, page }): Query<Request>,
) -> Result<FinalResponse, Error> {
    let reference = AgentReference::from(&agent);
    let running = store.agents().running_agent(&principal, &reference).await?.ok_or(Error::NotFound)?;
    let catalogue = catalogues.catalogue(&principal, running).await?;
    let rendered = tokio::task::spawn_blocking(move || render_page(&store, &catalogue, format, page)).await;
    rendered.map_err(|error| Error::Internal { detail: error.to_string() })?
}

/// Renders a page, which can have megabytes.
fn render_page(
    store: &AgentStore,
    catalogue: &Catalogue,
    format: ToolFormat,
    page: Page,
) -> Result<FinalResponse, Error> {
    let RunningAgent { agent, revision } = &*catalogue.running;
    let [form, digest] = format.list_name(catalogue);
    let list = ["agent tools", agent.organization.as_str(), agent.id.as_str(), &form, &digest];
    let start = usize::try_from(store.registry().open_position(&list, page)?).unwrap_or(usize::MAX);
    let internal = |error: serde_json::Error| Error::Internal { detail: error.to_string() };
    let Definitions { items, has_more } =
        render_definitions(catalogue, format, start, page.limit as usize).map_err(internal)?;
    if items.is_empty() && !page.is_first() {
        return Err(registry::Error::PageTokenUnknown.into());
    }
    let end = start + items.len();
    FinalResponse::ok(&AgentTools {
        revision: revision.deployment.number.get(),
        left_out: catalogue.left_out.iter().map(ToString::to_string).collect(),
        has_more,
        continuation_token: has_more.then(|| store.registry().seal_position(&list, end as u64)),
        tools: items,
    })
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        let description = "The form of the definitions; `mcp` by default.";
        let format = query.read_one("format", description, &FORMAT).unwrap_or_default();
        Self { format, page: query.read_page(1..=LIMIT_MAX, LIMIT_MAX) }
    }
}
