//! Legal holds of the history.

use registry::{HoldId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A legal hold. Its runs stay in the history, however old they are, until it is released.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Hold {
    pub hold_id: HoldId,
    pub reason: String,
    /// Null for a hold of the runs of all tools.
    pub tool_id: Option<String>,
    /// The start of the first held run. Null without a bound.
    #[schemars(extend("format" = "date-time"))]
    pub started_from: Option<String>,
    /// Held runs started before this time. Null without a bound.
    #[schemars(extend("format" = "date-time"))]
    pub started_before: Option<String>,
    pub placed_by: String,
    #[schemars(extend("format" = "date-time"))]
    pub placed_at: String,
    /// Null while the hold is in force, as the time.
    pub released_by: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    pub released_at: Option<String>,
}

/// An example of a hold, for the OpenAPI document.
pub(crate) fn hold_example() -> Value {
    json!({
        "hold_id": "6ab13d50a3c20f6f6e5d4c3b", "reason": "case 2026-117", "tool_id": null, "started_from": null,
        "started_before": "2026-11-20T00:00:00.000Z", "placed_by": "ann", "placed_at": "2026-11-20T21:32:05.000Z",
        "released_by": null, "released_at": null,
    })
}

impl From<registry::Hold> for Hold {
    fn from(hold: registry::Hold) -> Self {
        let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
        Self {
            hold_id: hold.id,
            reason: hold.reason.into(),
            tool_id: hold.runs.tool.map(String::from),
            started_from: time(hold.runs.started_from),
            started_before: time(hold.runs.started_before),
            placed_by: hold.placed_by.into(),
            placed_at: hold.placed_at.to_string(),
            released_at: time(hold.release.as_ref().map(|release| release.at)),
            released_by: hold.release.map(|release| release.by.into()),
        }
    }
}
