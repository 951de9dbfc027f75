//! `GET /v1/{organization}/human_request`: the requests that wait for people, or that did.

use agents::{AgentStore, HumanRequestFilter, HumanRequestState, Urgency};
use api_kit::caller::Caller;
use api_kit::error::{Error, Problem};
use api_kit::extract::{FromQuery, OneOf, PathParameter as _, Query, QueryParameters};
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{AgentRunId, HumanRequestId};
use serde_json::json;

use crate::sections;
use crate::wire::{HumanRequest, HumanRequestList, human_request_example};

const LIMIT_MAX: u64 = 200;
const LIMIT: u64 = 50;

const STATUS: OneOf<Option<HumanRequestState>> = OneOf(&[
    ("open", Some(HumanRequestState::Open)),
    ("answered", Some(HumanRequestState::Answered)),
    ("expired", Some(HumanRequestState::Expired)),
    ("cancelled", Some(HumanRequestState::Cancelled)),
    ("any", None),
]);

const URGENCY: OneOf<Urgency> = OneOf(&[("low", Urgency::Low), ("medium", Urgency::Medium), ("high", Urgency::High)]);

pub(crate) struct Request(HumanRequestFilter);

pub(crate) fn operation() -> OperationDoc {
    let example = json!({"human_requests": [human_request_example()], "has_more": false});
    OperationDoc::new("get-human-requests", sections::AGENTS, "List requests to people")
        .description(
            "Requests of runs of agents that wait for a person, the most urgent ones first, then the oldest ones. Users see those of \
            their own runs, administrators those of all runs.",
        )
        .returns::<HumanRequestList>(200, "The requests.", example)
        .errors(503, &["query_too_slow"])
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    Query(Request(filter)): Query<Request>,
) -> Result<Json<HumanRequestList>, Error> {
    if let Some(after) = &filter.after
        && store.agent_runs().get_human_request(&principal, after).await?.is_none()
    {
        let location = vec!["query".into(), "after".into()];
        let problem = "should be the id of a request that this list has";
        return Err(Error::Invalid { problems: vec![Problem::new(location, "value_error", problem)] });
    }
    let (found, has_more) = store.agent_runs().list_human_requests(&principal, filter).await?;
    // A request that cannot be read is left out, so that the others are still listed.
    let read = |request| {
        HumanRequest::try_from(request).inspect_err(|error| tracing::error!(?error, "a request is left out of a list"))
    };
    let human_requests = found.into_iter().filter_map(|request| read(request).ok()).collect();
    Ok(Json(HumanRequestList { human_requests, has_more }))
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        let status = "Only requests with this status; `open` by default, `any` for all.";
        let limit = query.read_integer("limit", "Requests, at most.", 1..=LIMIT_MAX, LIMIT);
        Self(HumanRequestFilter {
            state: query.read_one("status", status, &STATUS).unwrap_or(Some(HumanRequestState::Open)),
            urgency: query.read_one("urgency", "Only requests of this urgency.", &URGENCY),
            agent_run: query.read_one("agent_run_id", "Only requests of this run.", &AgentRunId::decoder()),
            after: query.read_one("after", "Only requests after this one.", &HumanRequestId::decoder()),
            limit: u32::try_from(limit).unwrap_or(u32::MAX),
        })
    }
}
