//! `GET /v1/{organization}/tool/invocation/search`: runs whose texts have all the words of a query.

use axum::Json;
use axum::extract::State;
use registry::{SearchField, SearchQuery, SearchText};
use serde::Serialize;

use super::filter;
use super::wire::ToolInvocationInstance;
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::Parameters;

const FIELDS: [(&str, SearchField); 4] = [
    ("invocation_status.output", SearchField::Output),
    ("invocation_status.exception_message", SearchField::ExceptionMessage),
    ("invocation_status.exception_type", SearchField::ExceptionType),
    ("invocation_status.exception_stack_trace", SearchField::ExceptionStackTrace),
];

#[derive(Serialize)]
pub(crate) struct Response {
    tool_invocations: Vec<ToolInvocationInstance>,
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    mut query: Parameters,
) -> Result<Json<Response>, Error> {
    let filter = filter::read(&mut query);
    let search = search(&mut query);
    query.finish()?;
    let found = app.store().search_invocations(&principal.organization, &search, &filter).await?;
    Ok(Json(Response { tool_invocations: found.into_iter().map(ToolInvocationInstance::from).collect() }))
}

fn search(query: &mut Parameters) -> SearchQuery {
    for required in ["query", "query_against"] {
        if !query.has(required) {
            query.missing(required);
        }
    }
    let fields = query.distinct("query_against", field);
    SearchQuery { text: query.one("query", SearchText::parse).unwrap_or_default(), fields }
}

fn field(text: &str) -> Result<SearchField, String> {
    let found = FIELDS.iter().find(|(name, _)| *name == text).map(|(_, field)| *field);
    found.ok_or_else(|| format!("should be one of: {}", FIELDS.map(|(name, _)| name).join(", ")))
}
