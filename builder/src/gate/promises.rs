//! Comparison of what two versions declare for models and clients. Only promises that end are changes: clients that call a
//! tool without a question, because the tool reads only or because a person confirms the call, must not be surprised.

use registry::{BumpKind, Intervention, VersionSettings};

use super::change::Change;

/// Compares declarations. A version that does not say that it is read-only any more counts as one that is not.
pub fn changes(old: &VersionSettings, new: &VersionSettings) -> Vec<Change> {
    let read_only = |of: &VersionSettings| of.annotations.read_only == Some(true);
    let is_confirmed = |of: &VersionSettings| of.intervention != Intervention::Never;
    let writes = (read_only(old) && !read_only(new)).then(|| "the tool is not declared read-only any more".to_owned());
    let unconfirmed = (is_confirmed(old) && !is_confirmed(new))
        .then(|| format!("no person confirms calls any more (`intervention` was {})", old.intervention.as_str()));
    let breaking = |reason| Change { bump: BumpKind::Major, reason };
    writes.into_iter().chain(unconfirmed).map(breaking).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::gate::needed;

    fn settings(declared: &serde_json::Value) -> VersionSettings {
        let mut settings = json!({
            "language": "python", "entry_point": "tool:run_tool", "allowed_hosts": [], "timeout_ms": 1, "memory_bytes": 1,
        });
        settings.as_object_mut().unwrap().extend(declared.as_object().unwrap().clone());
        serde_json::from_value(settings).unwrap()
    }

    #[test]
    fn a_promise_that_ends_breaks() {
        let read_only = |flag: bool| json!({"annotations": {"read_only": flag}});
        let confirmed = |intervention: &str| json!({ "intervention": intervention });
        let title = |title: &str| json!({"annotations": {"title": title, "destructive": true, "idempotent": true}});
        for (old, new, bump) in [
            (json!({}), json!({}), BumpKind::Patch),
            (read_only(true), read_only(true), BumpKind::Patch),
            (read_only(true), read_only(false), BumpKind::Major),
            (read_only(true), json!({}), BumpKind::Major),
            (read_only(false), read_only(true), BumpKind::Patch),
            (json!({}), read_only(false), BumpKind::Patch),
            (confirmed("always"), json!({}), BumpKind::Major),
            (confirmed("required"), confirmed("never"), BumpKind::Major),
            (confirmed("always"), confirmed("required"), BumpKind::Patch),
            (confirmed("required"), confirmed("always"), BumpKind::Patch),
            (json!({}), confirmed("always"), BumpKind::Patch),
            (title("Old"), title("New"), BumpKind::Patch),
            (title("Old"), json!({}), BumpKind::Patch),
        ] {
            assert_eq!(needed(&changes(&settings(&old), &settings(&new))), bump, "{old} {new}");
        }
    }

    #[test]
    fn reasons_name_the_promise() {
        let old = settings(&json!({"annotations": {"read_only": true}, "intervention": "always"}));
        let reasons: Vec<_> = changes(&old, &settings(&json!({}))).into_iter().map(|change| change.reason).collect();
        let expected = [
            "the tool is not declared read-only any more",
            "no person confirms calls any more (`intervention` was always)",
        ];
        assert_eq!(reasons, expected);
    }
}
