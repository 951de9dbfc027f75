//! Comparison of the schemas of inputs and outputs.

use registry::BumpKind;
use serde_json::Value;

use super::change::Change;
use super::reason::Reason;
use super::schemas::Comparison;

/// Compares input schemas. Callers send inputs, so the new schema must accept all inputs that the old one accepts.
pub fn compare_inputs(old: &Value, new: &Value) -> Vec<Change> {
    let refused = Comparison::new(old, new).find_refused();
    if !refused.is_empty() {
        return refused.iter().map(|reason| Change { bump: BumpKind::Major, reason: reason.to_string() }).collect();
    }
    let more = Comparison::new(new, old).find_refused();
    more.iter().map(|reason| Change { bump: BumpKind::Minor, reason: reason.show_widened() }).collect()
}

/// Compares output schemas. Callers rely on outputs, so the old schema must accept all outputs that the new one
/// accepts.
pub fn compare_outputs(old: Option<&Value>, new: Option<&Value>) -> Vec<Change> {
    let change = |bump, reason: &str| vec![Change { bump, reason: reason.to_owned() }];
    let (old, new) = match (old, new) {
        (Some(old), Some(new)) => (old, new),
        (Some(_), None) => return change(BumpKind::Major, "outputs are not described any more"),
        (None, Some(_)) => return change(BumpKind::Minor, "outputs are described now"),
        (None, None) => return Vec::new(),
    };
    let beyond = Comparison::new(new, old).find_refused();
    if !beyond.is_empty() {
        let reason = |reason: Reason| {
            format!("outputs may have values that they could not have before (of the previous schema: {reason})")
        };
        return beyond.into_iter().map(|each| Change { bump: BumpKind::Major, reason: reason(each) }).collect();
    }
    let narrower = Comparison::new(old, new).find_refused();
    let narrowed = |reason: &Reason| Change {
        bump: BumpKind::Minor,
        reason: format!("outputs are described more exactly ({reason})"),
    };
    narrower.first().map(narrowed).into_iter().collect()
}
