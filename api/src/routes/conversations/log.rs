//! `GET /v1/{organization}/conversation/{conversation_id}/log`: the calls whose results an interaction sees, in pages.

use agents::AgentStore;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{FromQuery, InPath, PathParameter as _, Query, QueryParameters};
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use registry::{ConversationId, InteractionId, Outcome, Page, Record, Slice};
use serde_json::json;

use crate::routes::invocations::page;
use crate::sections;
use crate::wire::{InvocationList, run_example};
use crate::work::FinalResponse;

const INTERACTION: &str = "The interaction that reads the log. It sees all of its own calls, too.";

pub(crate) struct Request {
    interaction: Option<InteractionId>,
    page: Page,
}

pub(crate) fn operation() -> OperationDoc {
    let example = json!({"tool_invocations": [run_example()], "has_more": false, "continuation_token": null});
    OperationDoc::new("get-conversation-log", sections::AGENTS, "Show the log of a conversation")
        .description(
            "The calls of the conversation's turns whose results later interactions see, oldest first. With `interaction_id`, also \
            those that only this interaction sees: ephemeral results and results that are too long to be persisted. Calls that were \
            rolled back are left out. Printed text, status events and stack traces are in the history only. A page of large records ends after 8 MiB, whatever the limit.",
        )
        .returns::<InvocationList>(200, "One page of the log.", example)
        .errors(503, &["query_too_slow"])
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    InPath(conversation): InPath<ConversationId>,
    Query(Request { interaction, page }): Query<Request>,
) -> Result<FinalResponse, Error> {
    let found = store.conversations().get_conversation(&principal, &conversation).await?.ok_or(Error::NotFound)?;
    let Slice { items, next } = store.conversations().conversation_log(&found, interaction.as_ref(), page).await?;
    let items = items.into_iter().map(keep_results_only).collect();
    page::answer(Slice { items, next }).await
}

/// Leaves out what only the history shows, whose permission a user of the conversation need not have.
fn keep_results_only(mut record: Record) -> Record {
    record.start.caller_address = None;
    record.start.api_key_id = None;
    if let Some(end) = &mut record.end {
        end.logs.clear();
        end.status_events.clear();
        if let Outcome::Failed { exception_stack_trace, .. } = &mut end.outcome {
            exception_stack_trace.clear();
        }
    }
    record
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        let interaction = query.read_one("interaction_id", INTERACTION, &InteractionId::decoder());
        Self { interaction, page: query.read_page(1..=100, 100) }
    }
}
