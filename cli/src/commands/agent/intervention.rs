//! The confirmations that an agent asks for: how they are given on the command line, and how they are shown.

use std::collections::BTreeMap;

use registry::{HumanIntervention, Intervention, NativeToolName, read_json};
use serde_json::json;

/// A tool of the server with its policy.
pub type ToolPolicy = (NativeToolName, Intervention);

/// Reads a policy, or a JSON object.
pub fn parse(text: &str) -> Result<HumanIntervention, String> {
    let problem = "must be never, required or always, or a JSON object with policy, apis and rules";
    if text.trim_start().starts_with('{') {
        return read_json(text.as_bytes()).map_err(|error| format!("{problem}: {error}"));
    }
    serde_json::from_value(json!(text)).map_err(|_| problem.to_owned())
}

/// Reads a tool with its policy, such as `artifact_share=required`.
pub fn parse_tool_policy(text: &str) -> Result<ToolPolicy, String> {
    let (name, policy) = text.split_once('=').ok_or("must be TOOL=POLICY, such as artifact_share=required")?;
    let name = NativeToolName::parse(name).map_err(|error| error.to_string())?;
    policy.parse().map(|policy| (name, policy)).map_err(|error: registry::InvalidValue| error.to_string())
}

/// The confirmations of one tool, on one line.
pub fn show_intervention(asked: &HumanIntervention) -> String {
    if asked.is_empty() {
        return "-".to_owned();
    }
    let policy = asked.policy.as_str().to_owned();
    let apis = asked.apis.iter().map(|(api, policy)| format!("{api} {}", policy.as_str()));
    let rules = (!asked.rules.is_empty()).then(|| format!("rules {}", asked.rules.len()));
    std::iter::once(policy).chain(apis).chain(rules).collect::<Vec<_>>().join(", ")
}

/// The confirmations of the server's tools, on one line.
pub fn show_tool_interventions(asked: &BTreeMap<NativeToolName, Intervention>) -> String {
    asked.iter().map(|(tool, policy)| format!("{tool} {}", policy.as_str())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_a_word_or_an_object() {
        for (text, expected) in [
            ("required", "required"),
            ("never", "-"),
            (
                r#"{"apis": {"remove": "always"}, "rules": [{"when": {"a": true}, "intervention": "always"}]}"#,
                "never, remove always, rules 1",
            ),
        ] {
            assert_eq!(show_intervention(&parse(text).unwrap()), expected, "{text}");
        }
        for wrong in ["", "sometimes", "[]", r#"{"api": {}}"#] {
            assert!(parse(wrong).unwrap_err().contains("never, required or always"), "{wrong}");
        }
    }

    #[test]
    fn a_tool_has_a_policy() {
        let (name, policy) = parse_tool_policy("artifact_share=required").unwrap();
        assert_eq!((name.as_str(), policy), ("artifact_share", Intervention::Required));
        assert!(parse_tool_policy("artifact_share").is_err() && parse_tool_policy("artifact_share=often").is_err());
    }
}
