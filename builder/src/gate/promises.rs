//! Comparison of what two versions declare for models and clients. Only promises that end are changes: clients that call a
//! tool without a question, because the tool reads only or because a person confirms the call, must not be surprised, and
//! MCP clients without tasks that may call a tool may still call it, and prompts and resources stay where they are.

use registry::{
    Annotations, BumpKind, Intervention, InterventionRule, McpSettings, TaskSupport, ToolApi, VersionSettings,
};

use super::change::Change;

/// Compares declarations. A version that does not say that it is read-only any more counts as one that is not.
pub fn compare(old: &VersionSettings, new: &VersionSettings) -> Vec<Change> {
    let needs_tasks = |of: &VersionSettings| of.task_support == TaskSupport::Required;
    let writes = compare_writes("tool", &old.annotations, &new.annotations);
    // Each API has its own declaration.
    let calls = if new.apis.is_empty() { compare_confirmation(old.intervention, new.intervention) } else { None };
    let only_as_task = (needs_tasks(new) && !needs_tasks(old)).then(|| {
        format!("only MCP clients with tasks may call the tool now (`tasks` was {})", old.task_support.as_str())
    });
    let ended = writes.into_iter().chain(calls).chain(find_ended_rules(old, new)).chain(only_as_task);
    ended
        .chain(find_gone_forms(&old.mcp, &new.mcp))
        .map(build_breaking_change)
        .chain(find_new_forms(&old.mcp, &new.mcp))
        .collect()
}

/// Returns the forms in which MCP clients do not find the tool any more.
fn find_gone_forms(old: &McpSettings, new: &McpSettings) -> Vec<String> {
    let prompt = (old.prompt && !new.prompt).then(|| "the tool is no prompt any more".to_owned());
    let gone = old.resource.as_ref().filter(|_| old.resource != new.resource);
    let resource = gone.map(|uri| format!("the resource {} is gone", uri.as_str()));
    prompt.into_iter().chain(resource).collect()
}

/// Returns the forms in which MCP clients find the tool for the first time: what they read there, another tool may have been before.
fn find_new_forms(old: &McpSettings, new: &McpSettings) -> Vec<Change> {
    let prompt = (new.prompt && !old.prompt).then(|| "the tool is a prompt, too".to_owned());
    let added = new.resource.as_ref().filter(|_| old.resource.is_none());
    let resource = added.map(|uri| format!("the tool reads the resource {}", uri.as_str()));
    let minor = |reason| Change { bump: BumpKind::Minor, reason };
    prompt.into_iter().chain(resource).map(minor).collect()
}

/// Compares the declarations of an API.
pub fn compare_api(old: &ToolApi, new: &ToolApi) -> Vec<Change> {
    let ended = [
        compare_writes("API", &old.annotations, &new.annotations),
        compare_confirmation(old.intervention, new.intervention),
    ];
    ended.into_iter().flatten().map(build_breaking_change).collect()
}

const fn build_breaking_change(reason: String) -> Change {
    Change { bump: BumpKind::Major, reason }
}

fn compare_writes(what: &str, old: &Annotations, new: &Annotations) -> Option<String> {
    let read_only = |of: &Annotations| of.read_only == Some(true);
    (read_only(old) && !read_only(new)).then(|| format!("the {what} is not declared read-only any more"))
}

/// Returns the confirmation that ends: a call that a person confirmed may go through now.
fn compare_confirmation(old: Intervention, new: Intervention) -> Option<String> {
    let ends = old != Intervention::Never && new == Intervention::Never;
    ends.then(|| format!("no person confirms each call any more (`intervention` was {})", old.as_str()))
}

/// Returns the rules that end.
fn find_ended_rules(old: &VersionSettings, new: &VersionSettings) -> Vec<String> {
    let mut ended = Vec::new();
    let of_all = new.apis.values().map(|api| api.intervention).min().unwrap_or(new.intervention);
    for rule in &old.intervention_rules {
        let is_kept = |other: &InterventionRule| other.when == rule.when && other.intervention >= rule.intervention;
        if of_all < rule.intervention && !new.intervention_rules.iter().any(is_kept) {
            let when = serde_json::Value::Object(rule.when.clone());
            ended.push(format!(
                "the rule for calls with {when} is gone or less strict (it was {})",
                rule.intervention.as_str()
            ));
        }
    }
    ended
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::gate::find_needed_bump;

    fn settings(declared: &serde_json::Value) -> VersionSettings {
        let mut settings = json!({
            "language": "python", "entry_point": "tool:run_tool", "allowed_hosts": [], "timeout_ms": 1, "memory_bytes": 1,
            "secret_hosts": {}, "limits": {}, "tape": true, "recorded_answers": false,
            "world": {"name": "lathe:tool/tool@0.1.0", "imports": [], "exports": ["run-tool"]},
        });
        settings.as_object_mut().unwrap().extend(declared.as_object().unwrap().clone());
        serde_json::from_value(settings).unwrap()
    }

    #[test]
    fn a_promise_that_ends_breaks() {
        let read_only = |flag: bool| json!({"annotations": {"read_only": flag}});
        let confirmed = |intervention: &str| json!({ "intervention": intervention });
        let (prompt, resource) = (json!({"mcp": {"prompt": true}}), |uri: &str| json!({"mcp": {"resource": uri}}));
        let ruled =
            || json!({"intervention_rules": [{"when": {"amount": {"minimum": 100}}, "intervention": "always"}]});
        let tasks = |support: &str| json!({ "tasks": support });
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
            (ruled(), json!({}), BumpKind::Major),
            (ruled(), confirmed("required"), BumpKind::Major),
            (ruled(), confirmed("always"), BumpKind::Patch),
            (ruled(), ruled(), BumpKind::Patch),
            (confirmed("always"), ruled(), BumpKind::Major),
            (json!({}), ruled(), BumpKind::Patch),
            (json!({}), tasks("required"), BumpKind::Major),
            (tasks("optional"), tasks("required"), BumpKind::Major),
            (tasks("required"), tasks("required"), BumpKind::Patch),
            (tasks("required"), tasks("optional"), BumpKind::Patch),
            (tasks("required"), json!({}), BumpKind::Patch),
            (json!({}), tasks("optional"), BumpKind::Patch),
            (tasks("optional"), tasks("never"), BumpKind::Patch),
            (prompt.clone(), json!({}), BumpKind::Major),
            (json!({}), prompt.clone(), BumpKind::Minor),
            (prompt.clone(), prompt, BumpKind::Patch),
            (resource("t:a"), json!({}), BumpKind::Major),
            (resource("t:a"), resource("t:b"), BumpKind::Major),
            (resource("t:a"), resource("t:a"), BumpKind::Patch),
            (json!({}), resource("t:a"), BumpKind::Minor),
            (title("Old"), title("New"), BumpKind::Patch),
            (title("Old"), json!({}), BumpKind::Patch),
        ] {
            assert_eq!(find_needed_bump(&compare(&settings(&old), &settings(&new))), bump, "{old} {new}");
        }
    }

    #[test]
    fn reasons_name_the_promise() {
        let old = settings(&json!({"annotations": {"read_only": true}, "intervention": "always"}));
        let new = settings(&json!({"tasks": "required"}));
        let reasons: Vec<_> = compare(&old, &new).into_iter().map(|change| change.reason).collect();
        let expected = [
            "the tool is not declared read-only any more",
            "no person confirms each call any more (`intervention` was always)",
            "only MCP clients with tasks may call the tool now (`tasks` was never)",
        ];
        assert_eq!(reasons, expected);
    }
}
