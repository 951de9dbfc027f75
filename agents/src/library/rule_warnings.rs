//! Warnings about rules that can never act.

use futures_util::future::BoxFuture;
use runner::Outcome;
use serde_json::{Value, json};

use super::answer::{Failure, build_outcome};
use super::create::create_item;
use super::enforced_rules::PROMPT_BYTES_MAX;
use super::rule::Rule;
use super::update::update_item;
use crate::platform_call::PlatformCall;
use crate::store::Library;

/// The member of a result that has the warnings, if there are any.
pub(super) const WARNINGS: &str = "warnings";

pub(super) fn create(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let library = call.library.clone();
        build_outcome(with_warnings(create_item::<Rule>(call).await, &library).await)
    })
}

pub(super) fn update(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let library = call.library.clone();
        build_outcome(with_warnings(update_item::<Rule>(call).await, &library).await)
    })
}

/// Adds the warnings to a rule. It is written already, so that a store that fails takes only a warning away.
async fn with_warnings(written: Result<Value, Failure>, library: &Library) -> Result<Value, Failure> {
    let mut rule = written?;
    let mut warnings = of_fields(&rule);
    if let Some(tool) = rule["triggers"]["tool_name"].as_str().filter(|_| rule["enabled"] == true) {
        match library.has_tool(tool).await {
            Ok(true) => {}
            Ok(false) => warnings.push(describe_unknown_tool(tool, bans(&rule))),
            Err(error) => tracing::warn!(%error, "the tool of a rule is not looked for"),
        }
    }
    if !warnings.is_empty() {
        rule[WARNINGS] = json!(warnings);
    }
    Ok(rule)
}

fn describe_unknown_tool(tool: &str, bans: bool) -> String {
    let then = if bans { "the rule bans nothing" } else { "its name brings the rule into no instructions" };
    format!(
        "triggers.tool_name: the organization has no tool {tool}, and no tool with this API: until it has one, {then}. The \
        tools of the server are never banned"
    )
}

/// Whether a rule forbids calls of the tool that it names.
fn bans(rule: &Value) -> bool {
    gates(rule) && rule["category"] == "must-not"
}

fn gates(rule: &Value) -> bool {
    matches!(rule["enforcement_mode"].as_str(), Some("gate" | "both"))
}

/// The warnings that the fields alone give. The server enforces a disabled rule neither, but its user knows that.
fn of_fields(rule: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    if rule["enabled"] != true {
        return warnings;
    }
    // A rule that only instructs is read by agents whoever wrote it.
    if gates(rule) && rule["provenance"]["trusted"] != true {
        warnings.push(
            "the server does not enforce what an agent or a workflow wrote: the user writes the rule, without an agent"
                .to_owned(),
        );
    }
    let triggers = &rule["triggers"];
    if gates(rule) && rule["category"] != "must-not" {
        let category = rule["category"].as_str().unwrap_or_default();
        warnings
            .push(format!("enforcement_mode: a gate of the category {category} refuses no call; only must-not does"));
    } else if gates(rule) && triggers["tool_name"].is_null() {
        warnings.push("enforcement_mode: a gate without triggers.tool_name refuses no call: name the tool".to_owned());
    }
    if rule["enforcement_mode"] == "gate" {
        return warnings;
    }
    let bytes = rule["content"].as_str().map_or(0, str::len);
    if bytes > PROMPT_BYTES_MAX {
        warnings.push(format!(
            "content: the rule has {bytes} bytes, and all rules in the instructions of a model have {PROMPT_BYTES_MAX} together: it is \
            left out of them"
        ));
    }
    let has = |name: &str| !triggers[name].is_null() && triggers[name] != json!([]) && triggers[name] != json!(false);
    if triggers.is_object() && !["keywords", "tool_name", "embedding", "always"].into_iter().any(has) {
        warnings
            .push("triggers: nothing triggers the rule: name a keyword or a tool, or leave `triggers` out".to_owned());
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(more: &Value) -> String {
        let mut rule = json!({
            "category": "must-not", "enforcement_mode": "inject", "enabled": true, "content": "x", "triggers": null,
            "provenance": {"trusted": true},
        });
        if let (Some(rule), Some(more)) = (rule.as_object_mut(), more.as_object()) {
            rule.extend(more.clone());
        }
        of_fields(&rule).join("\n")
    }

    #[test]
    fn a_rule_that_can_never_act_has_a_warning() {
        for (rule, words) in [
            (json!({"enforcement_mode": "gate"}), "a gate without triggers.tool_name"),
            (json!({"enforcement_mode": "both", "triggers": {"keywords": ["x"]}}), "a gate without triggers.tool_name"),
            (
                json!({"enforcement_mode": "gate", "category": "must", "triggers": {"tool_name": "x"}}),
                "a gate of the category must ",
            ),
            (json!({"triggers": {"keywords": [], "tool_name": null, "always": false}}), "nothing triggers the rule"),
            (json!({"content": "x".repeat(20_000)}), "left out"),
            (
                json!({"provenance": {"trusted": false}, "enforcement_mode": "gate", "triggers": {"tool_name": "x"}}),
                "an agent or a workflow wrote",
            ),
        ] {
            assert!(found(&rule).contains(words), "{rule}: {}", found(&rule));
        }
        for rule in [
            json!({}),
            json!({"enabled": false, "enforcement_mode": "gate"}),
            json!({"enforcement_mode": "gate", "triggers": {"tool_name": "x"}}),
            json!({"triggers": {"embedding": [1.0]}}),
            json!({"triggers": {"always": true}}),
            json!({"provenance": {"trusted": false}}),
        ] {
            assert_eq!(found(&rule), "", "{rule}");
        }
    }
}
