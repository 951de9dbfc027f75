//! `GET /v1/{organization}/tool/invocation/{invocation_id}`: one record, also of a run that has not ended.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{RunId, Store};
use serde_json::{Value, json};

use crate::sections;
use crate::wire::{AccountedToolInvocation, run_example};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-tool-invocation", sections::HISTORY, "Show a run")
        .description("One record with its ledger, also of a run that has not ended.")
        .returns::<AccountedToolInvocation>(200, "The record.", example())
}

fn example() -> Value {
    let mut example = run_example();
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
            "calls": [{
                "tool": "weather", "version": "1.2.0", "invocation_id": "6ab13d50a3c20f6f6e5d4c3d", "error": null, "is_refused": false, "duration_ms": 9,
                "total": {"runs": 1, "cpu_ms": 2, "http_requests": 0, "http_bytes": 0},
            }],
        },
        "refused": {"http_requests": 0, "status_events": 0, "calls": 0},
        "cost": {
            "cpu_ms": 1, "guest_us": 640, "host_us": 25, "waiting_us": 31_120, "memory_peak_bytes": 23_068_672,
        },
    });
    example
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(invocation): InPath<RunId>,
) -> Result<Json<AccountedToolInvocation>, Error> {
    let found = store.history().get_invocation(&principal.organization, &invocation).await?;
    Ok(Json(found.ok_or(Error::NotFound)?.into()))
}
