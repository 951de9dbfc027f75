//! The replay of a run.

use registry::Cost;
use runner::{DifferenceKind, ReplayResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{InvocationResult, results_example};

/// The comparison of a replay with the recorded run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Replayed {
    /// Whether nothing differs. Costs are not compared.
    pub identical: bool,
    /// Whether the run was compared to its end. A run that timed out is compared up to that time.
    pub complete: bool,
    /// The first difference, when the version that ran was replayed; otherwise at most 100 differences.
    pub differences: Vec<ReplayDifference>,
    /// The result of the replay.
    pub invocation_result: InvocationResult,
    pub cost: ReplayCosts,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReplayDifference {
    #[schemars(with = "DifferenceKind")]
    pub what: String,
    /// The number of the effect, from zero. With other code, the number of the status event.
    pub position: Option<usize>,
    pub recorded: Option<String>,
    pub replayed: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReplayCosts {
    pub recorded: Cost,
    pub replayed: Cost,
}

/// An example of a replay, for the OpenAPI document.
pub(crate) fn replay_example() -> Value {
    let result = &results_example()["invocation_results"][0];
    let cost = json!({
        "cpu_ms": 1, "guest_us": 640, "host_us": 25, "waiting_us": 120, "memory_peak_bytes": 23_068_672,
    });
    json!({
        "identical": false,
        "complete": true,
        "differences": [{"what": "outcome", "position": null, "recorded": "hello", "replayed": "HELLO"}],
        "invocation_result": result,
        "cost": {"recorded": cost, "replayed": cost},
    })
}

impl From<ReplayResult> for Replayed {
    fn from(replayed: ReplayResult) -> Self {
        let ReplayResult { differences, is_complete, result, recorded_cost, replayed_cost, .. } = replayed;
        Self {
            identical: differences.is_empty(),
            complete: is_complete,
            differences: differences.into_iter().map(ReplayDifference::from).collect(),
            invocation_result: result.into(),
            cost: ReplayCosts { recorded: recorded_cost, replayed: replayed_cost },
        }
    }
}

impl From<runner::Difference> for ReplayDifference {
    fn from(difference: runner::Difference) -> Self {
        let runner::Difference { what, position, recorded, replayed } = difference;
        Self { what: what.as_str().to_owned(), position, recorded, replayed }
    }
}
