//! Replays of recorded runs by the same code and by other code, and the protection of recordings.

mod alone;
mod gate;
mod http;
mod kept;
mod large;
mod other;
mod same;

use serde_json::{Value, json};

use crate::harness::{Answer, Team};

/// Requests a replay of a run.
pub fn replay(team: &Team, run: &str, body: &Value) -> Answer {
    team.post(&format!("/tool/invocation/{run}/replay"), body)
}

/// Replays a run with its own version, and asserts that nothing differs.
#[track_caller]
pub fn identical(team: &Team, run: &str) -> Value {
    let answer = replay(team, run, &json!({})).expect(200);
    assert_eq!(answer["differences"], json!([]), "{answer}");
    assert!(answer["identical"] == true && answer["complete"] == true, "{answer}");
    assert_eq!(answer["invocation_result"]["invocation_id"], run, "{answer}");
    answer
}

/// The end of a run in its record.
fn recorded(team: &Team, run: &str) -> Value {
    team.get(&format!("/tool/invocation/{run}"))["invocation_status"].clone()
}

/// The end of a replay.
fn ended(replayed: &Value) -> Value {
    let mut result = replayed["invocation_result"].clone();
    let fields = result.as_object_mut().expect("an object");
    for beside in ["invocation_id", "duration_ms", "persisted"] {
        fields.remove(beside);
    }
    result
}
