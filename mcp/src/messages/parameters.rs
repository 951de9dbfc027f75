//! The parameters of a request, as its method describes them.
//!
//! The SDK takes a request with wrong parameters for one of an unknown method, so that its client would look for a missing feature and not
//! for its mistake.

#![expect(deprecated, reason = "log messages, which clients of earlier protocol versions ask for")]

use rmcp::model::{
    CallToolRequestParams, CancelTaskParams, CompleteRequestParams, GetPromptRequestParams, GetSkillRequestParams,
    GetTaskParams, InitializeRequestParams, LoggingLevel, PaginatedRequestParams, ProgressToken,
    ReadResourceRequestParams, SetLevelRequestParams, SubscribeRequestParams, SubscriptionsListenRequestParams,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

/// Methods that the present version of the protocol has no more. They are unknown, whatever their parameters are.
const REMOVED: [&str; 5] = ["initialize", "logging/setLevel", "ping", "resources/subscribe", "resources/unsubscribe"];

/// Parameters of every method.
#[derive(Deserialize)]
struct WithMeta {
    #[serde(default, rename = "_meta")]
    meta: Option<Meta>,
}

/// Parameters of a method that has no others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnlyMeta {
    #[serde(default)]
    _meta: Option<Meta>,
}

/// The metadata that the server reads. The version and the capabilities of the present version are checked by the SDK.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Meta {
    #[serde(default, rename = "progressToken")]
    _token: Option<ProgressToken>,
    #[serde(default, rename = "io.modelcontextprotocol/logLevel")]
    _level: Option<LoggingLevel>,
    /// Only requests of the present version have it.
    #[serde(default, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<IgnoredAny>,
    /// A struct without it is read from an array, too: as the list of its fields.
    #[serde(flatten)]
    _others: IgnoredAny,
}

/// A problem of parameters: its place, such as `params/arguments`, and a sentence about it.
pub struct ParameterProblem {
    pub place: String,
    pub text: String,
}

/// Finds what is wrong with the parameters of a request. `None` for right ones, and for the object of an unknown method.
pub fn find_problem(method: &str, params: Option<&str>) -> Option<ParameterProblem> {
    let is_absent = params.is_none();
    // Clients write null for no parameters.
    let params = params.filter(|params| *params != "null").unwrap_or("{}");
    // The SDK takes a list for no message at all, also with a method that it does not know.
    if !params.starts_with('{') {
        return Some(ParameterProblem { place: "params".to_owned(), text: "should be an object".to_owned() });
    }
    let is_unknown = || {
        let with_meta = serde_json::from_str::<WithMeta>(params).ok();
        with_meta.and_then(|with_meta| with_meta.meta).is_some_and(|meta| meta.version.is_some())
    };
    if REMOVED.contains(&method) && is_unknown() {
        return None;
    }
    let find: fn(&str) -> Option<ParameterProblem> = match method {
        "completion/complete" => find_in::<CompleteRequestParams>,
        "initialize" => find_in::<InitializeRequestParams>,
        "logging/setLevel" => find_in::<SetLevelRequestParams>,
        "prompts/get" => find_in::<GetPromptRequestParams>,
        "resources/read" => find_in::<ReadResourceRequestParams>,
        "resources/subscribe" => find_in::<SubscribeRequestParams>,
        "resources/unsubscribe" => find_in::<UnsubscribeRequestParams>,
        "skills/get" => find_in::<GetSkillRequestParams>,
        "subscriptions/listen" => find_in::<SubscriptionsListenRequestParams>,
        "tasks/cancel" => find_in::<CancelTaskParams>,
        "tasks/get" => find_in::<GetTaskParams>,
        "tasks/update" => find_in::<UpdateTaskParams>,
        "tools/call" => find_in::<CallToolRequestParams>,
        "prompts/list" | "resources/list" | "resources/templates/list" | "skills/list" | "tools/list" => {
            find_in::<PaginatedRequestParams>
        }
        "ping" => find_in::<WithMeta>,
        "server/discover" if is_absent => {
            return Some(ParameterProblem { place: "params/_meta".to_owned(), text: "is missing".to_owned() });
        }
        "server/discover" => find_in::<OnlyMeta>,
        _ => return None,
    };
    find_in::<WithMeta>(params).or_else(|| find(params))
}

fn find_in<P: DeserializeOwned>(params: &str) -> Option<ParameterProblem> {
    let mut reader = serde_json::Deserializer::from_str(params);
    let error = serde_path_to_error::deserialize::<_, P>(&mut reader).err()?;
    let mut place = "params".to_owned();
    for step in error.path() {
        use serde_path_to_error::Segment;
        match step {
            Segment::Map { key } => place = format!("{place}/{key}"),
            Segment::Seq { index } => place = format!("{place}/{index}"),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    let text = error.inner().to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    if let Some(name) = text.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        return Some(ParameterProblem { place: format!("{place}/{name}"), text: "is missing".to_owned() });
    }
    Some(ParameterProblem { place, text: rephrase(text) })
}

/// A message of the parser in the words of JSON.
fn rephrase(text: &str) -> String {
    if text.starts_with("data did not match any variant") {
        return "has another type or other fields than the protocol describes".to_owned();
    }
    // The names of the SDK's types tell a client nothing. Of an array, the parser tells the length.
    if let Some((found, _)) = text.split_once("expected struct ") {
        let is_array = text.starts_with("invalid length");
        return if is_array {
            "should be an object".to_owned()
        } else {
            rephrase(&format!("{found}expected an object"))
        };
    }
    text.replace("a sequence", "an array")
        .replace("sequence", "array")
        .replace("a map", "an object")
        .replace("map", "object")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::MCP_METHODS;

    fn find_message(method: &str, params: &Value) -> Option<String> {
        find_problem(method, Some(&params.to_string())).map(|problem| format!("{}: {}", problem.place, problem.text))
    }

    #[test]
    fn problems_have_their_places() {
        for (method, params, expected) in [
            ("tools/call", json!({"arguments": {}}), "params/name: is missing"),
            ("tools/call", json!({"name": 1}), "params/name: invalid type: integer `1`, expected a string"),
            (
                "tools/call",
                json!({"name": "a", "arguments": []}),
                "params/arguments: invalid type: array, expected an object",
            ),
            (
                "tools/call",
                json!({"name": "a", "arguments": "x"}),
                "params/arguments: invalid type: string \"x\", expected an object",
            ),
            ("tools/call", json!(["a"]), "params: should be an object"),
            ("tools/call", json!(null), "params/name: is missing"),
            ("resources/read", json!({}), "params/uri: is missing"),
            ("resources/read", json!({"uri": {}}), "params/uri: invalid type: object, expected a string"),
            (
                "prompts/get",
                json!({"name": "a", "arguments": [1]}),
                "params/arguments: invalid type: array, expected an object",
            ),
            ("tools/list", json!({"cursor": 1}), "params/cursor: invalid type: integer `1`, expected a string"),
            ("tools/list", json!({"_meta": []}), "params/_meta: invalid type: array, expected an object"),
            ("tools/list", json!("x"), "params: should be an object"),
            ("ping", json!(1), "params: should be an object"),
            ("initialize", json!({"capabilities": []}), "params/capabilities: should be an object"),
            (
                "initialize",
                json!({"clientInfo": 1}),
                "params/clientInfo: invalid type: integer `1`, expected an object",
            ),
            ("ping", json!({"_meta": []}), "params/_meta: invalid type: array, expected an object"),
            ("ping", json!({"_meta": "x"}), "params/_meta: invalid type: string \"x\", expected an object"),
            ("no/such", json!([]), "params: should be an object"),
            (
                "initialize",
                json!({"capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}),
                "params/protocolVersion: is missing",
            ),
        ] {
            let found = find_message(method, &params);
            assert!(found.as_deref().is_some_and(|found| found.starts_with(expected)), "{method} {params}: {found:?}");
        }
        let level = json!({"_meta": {"progressToken": {}}});
        assert!(
            find_message("tools/list", &level).is_some_and(|found| found.starts_with("params/_meta/progressToken: "))
        );
    }

    #[test]
    fn right_parameters_and_unknown_methods_have_no_problem() {
        for (method, params) in [
            (
                "tools/call",
                json!({"name": "a", "arguments": {"x": [1]}, "_meta": {"progressToken": 1, "other/key": []}}),
            ),
            ("tools/call", json!({"name": "a", "arguments": null, "more": 1})),
            ("tools/list", json!({"cursor": null})),
            ("tools/list", json!(null)),
            ("no/such", json!({"_meta": []})),
            ("resources/subscribe", json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}})),
        ] {
            assert_eq!(find_message(method, &params), None, "{method} {params}");
        }
        assert!(find_problem("ping", None).is_none());
    }

    #[test]
    fn every_method_is_known() {
        for method in MCP_METHODS {
            assert!(find_message(method.name, &json!({"_meta": 1})).is_some(), "{}", method.name);
        }
    }
}
