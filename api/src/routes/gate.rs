//! The promotion gate of a publication or a branch test.

use builder::ReplayGate;
use registry::Permission;
use serde_json::{Value, json};

use crate::extract::Node;
use crate::openapi::form;

/// More of a tool's runs take minutes.
const GATE_RUNS_MAX: u64 = 1_000;
/// A hundred times as long.
const SLOWER_PERCENT_MAX: u64 = 10_000;

/// Runs are read and repeated, with what they were given.
pub(super) const GATE_TAKES: [Permission; 2] = [Permission::GetInvocation, Permission::InvokeTool];

/// The form of `gate`.
pub(super) fn gate_form() -> Value {
    let words = "The last recorded runs of the highest live version, over their tapes: the candidate has to do what they did, \
        or `build_failed` says which do not. The log of the build has the whole report.";
    form::said(form::or_null(object()), words)
}

fn object() -> Value {
    let percent = |max: u64| json!({"type": "integer", "minimum": 0, "maximum": max});
    json!({
        "type": "object",
        "required": ["replay"],
        "properties": {
            "replay": form::said(json!({"type": "integer", "minimum": 1, "maximum": GATE_RUNS_MAX}), "How many runs."),
            "different_percent_max": form::said(
                form::default(form::or_null(percent(100)), &json!(0)),
                "Of these, so many may have another outcome or other effects.",
            ),
            "slower_percent_max": form::said(
                form::or_null(percent(SLOWER_PERCENT_MAX)),
                "All runs together may compute so much longer; without it, any time.",
            ),
        },
    })
}

/// Reads `gate` of a body, if it is there.
pub(super) fn gate(body: &Node) -> Option<Option<ReplayGate>> {
    let Some(node) = body.optional("gate") else { return Some(None) };
    read(&node).map(Some)
}

fn read(node: &Node) -> Option<ReplayGate> {
    let number = |key: &str, max: u64| match node.optional(key) {
        Some(found) => Some(Some(u32::try_from(found.whole_number(0..=max)?).ok()?)),
        None => Some(None),
    };
    let runs_max = node.required("replay")?.whole_number(1..=GATE_RUNS_MAX)?;
    Some(ReplayGate {
        runs_max: u32::try_from(runs_max).ok()?,
        different_percent_max: number("different_percent_max", 100)?.unwrap_or(0),
        slower_percent_max: number("slower_percent_max", SLOWER_PERCENT_MAX)?,
    })
}
