//! `GET /v1/{organization}/tool/invocation/{invocation_id}`: one record, also of a run that goes on.

use axum::Json;
use axum::extract::State;
use registry::{Invocation, InvocationId, Ledger};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::wire::{self, ToolInvocationInstance};
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{Operation, Tag};

/// A record with its account.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AccountedToolInvocation")]
pub(crate) struct Response {
    #[serde(flatten)]
    record: ToolInvocationInstance,
    /// What the run was granted, used, was refused and cost. Null while it goes on, when its server stopped under it,
    /// and for runs of earlier releases.
    ledger: Option<Ledger>,
}

pub(crate) fn operation() -> Operation {
    Operation::new("get-tool-invocation", Tag::History, "Show a run")
        .says("One record with its account, also of a run that goes on.")
        .answers::<Response>(200, "The record.", example())
}

fn example() -> Value {
    let mut example = wire::example();
    example["ledger"] = json!({
        "granted": {
            "envvars": ["REGION"], "secrets": ["API_TOKEN"], "host_secrets": [], "wall_ms": 30_000,
            "cpu_ms": 10_000, "memory_bytes": 134_217_728,
        },
        "used": {
            "envvars": ["REGION"], "secrets": ["API_TOKEN"], "clock_reads": 2, "random_bytes": 24, "status_events": 0, "log_bytes": 0, "output_bytes": 5,
            "http": [{
                "method": "GET", "host": "api.example.com", "status": 200, "error": null, "is_refused": false, "answered_by": "network", "sent_bytes": 0,
                "received_bytes": 512, "duration_ms": 31, "secrets": [],
            }],
        },
        "refused": {"http_requests": 0, "status_events": 0},
        "cost": {
            "cpu_ms": 1, "guest_us": 640, "host_us": 25, "waiting_us": 31_120, "memory_peak_bytes": 23_068_672,
        },
    });
    example
}

impl From<Invocation> for Response {
    fn from(mut run: Invocation) -> Self {
        let ledger = run.finished.as_mut().and_then(|finished| finished.ledger.take());
        Self { record: run.into(), ledger }
    }
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(invocation): InPath<InvocationId>,
) -> Result<Json<Response>, Error> {
    let found = app.store().get_invocation(&principal.organization, &invocation).await?;
    Ok(Json(found.ok_or(Error::NotFound)?.into()))
}
