//! `humanIntervention`: the confirmation by a person that an agent asks for, besides what its tools declare.

use std::collections::BTreeMap;

use agents::{Assignment, BuiltInTools};
use api_kit::error::Error;
use api_kit::extract::{AnyObject, Decoder, Fields, List, Node, Object, OneOf, Text, TextMap};
use registry::{ApiName, HeapBytes, HumanIntervention, Intervention, InterventionRule, NativeToolName};
use runner::check_intervention_rule;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

pub(super) const FIELD: &str = "humanIntervention";

pub(super) const DESCRIPTION: &str = "Whether a person confirms the calls of the tool: `never`, `required` or `always`, or an object \
    with `policy`, `apis` and `rules`. The strictest counts, and what the version itself declares.";

pub(super) const OF_TOOLS_DESCRIPTION: &str =
    "Whether a person confirms the calls of a tool of the server, by the name of the tool.";

const POLICIES: OneOf<Intervention> = OneOf(&[
    (Intervention::Never.as_str(), Intervention::Never),
    (Intervention::Required.as_str(), Intervention::Required),
    (Intervention::Always.as_str(), Intervention::Always),
]);

/// A rule that asks for nothing would have no effect.
const POLICIES_OF_RULES: OneOf<Intervention> = OneOf(&[
    (Intervention::Required.as_str(), Intervention::Required),
    (Intervention::Always.as_str(), Intervention::Always),
]);

const API_NAME: Text<ApiName> = Text::of_type(
    || json!({"type": "string", "minLength": 1, "maxLength": ApiName::BYTES_MAX, "pattern": "^[a-z][A-Za-z0-9_]*$"}),
);

const TOOL_NAME: Text<NativeToolName> = Text::of_type(
    || json!({"type": "string", "minLength": 1, "maxLength": NativeToolName::BYTES_MAX, "pattern": "^[A-Za-z0-9_-]+$"}),
);

/// The parts of the object. Others are refused: a misspelt part would ask for nothing.
const PARTS: [&str; 3] = ["policy", "apis", "rules"];

/// The policy of all calls, or an object with more.
pub(super) struct HumanInterventionDecoder;

impl Decoder for HumanInterventionDecoder {
    type Value = HumanIntervention;

    fn schema(&self) -> Value {
        let mut object = Object(read_parts).schema();
        object["additionalProperties"] = json!(false);
        json!({"anyOf": [POLICIES.schema(), object]})
    }

    fn decode(&self, node: &Node) -> Option<HumanIntervention> {
        if node.is_text() {
            return POLICIES.decode(node).map(HumanIntervention::of_policy);
        }
        match node.read_object()?.keys().find(|key| !PARTS.contains(&key.as_str())) {
            Some(_) => node.note("value_error", "Object should have policy, apis and rules only"),
            None => Object(read_parts).decode(node),
        }
    }
}

fn read_parts(fields: &mut Fields) -> Option<HumanIntervention> {
    let policy = fields.read_optional("policy", POLICIES.with_default("never").described("For all calls."));
    let apis = TextMap { keys: API_NAME, values: POLICIES, entries_max: ApiName::COUNT_MAX };
    let apis = fields.read_optional("apis", apis.described("For all calls of an API of the tool, by its name."));
    let rules = List { items: Object(read_rule), length: 0..=InterventionRule::COUNT_MAX };
    let rules = fields.read_optional("rules", rules.described("For the calls with certain arguments."));
    Some(HumanIntervention {
        policy: policy.unwrap_or_default(),
        apis: apis.unwrap_or_default(),
        rules: rules.unwrap_or_default(),
    })
}

fn read_rule(fields: &mut Fields) -> Option<InterventionRule> {
    let when = "JSON Schemas of arguments. The rule matches a call that has all of them, each as its schema says.";
    let when = fields.read_required("when", AnyObject.described(when));
    let intervention = fields.read_required("intervention", POLICIES_OF_RULES);
    Some(InterventionRule { when: when?, intervention: intervention? })
}

/// The policies of tools of the server.
pub(super) fn of_tools() -> impl Decoder<Value = BTreeMap<NativeToolName, Intervention>> {
    TextMap { keys: TOOL_NAME, values: POLICIES, entries_max: BuiltInTools::TOOLS_MAX }.described(OF_TOOLS_DESCRIPTION)
}

/// Refuses rules that are too long, or cannot be used. A build refuses these, too.
pub(super) async fn require_usable_rules(assignments: impl Iterator<Item = &Assignment>) -> Result<(), Error> {
    let mut rules = Vec::new();
    for assignment in assignments {
        let asked = &assignment.human_intervention;
        if json!(asked).to_string().len() > HumanIntervention::BYTES_MAX {
            let detail = format!("{FIELD} has at most {} bytes as JSON", HumanIntervention::BYTES_MAX);
            return Err(Error::Refused { code: "invalid_value", detail });
        }
        if asked.heap_bytes() > HumanIntervention::PARSED_BYTES_MAX {
            let most = HumanIntervention::PARSED_BYTES_MAX;
            let detail =
                format!("{FIELD} takes at most {most} bytes of memory; use fewer objects and lists in its rules");
            return Err(Error::Refused { code: "invalid_value", detail });
        }
        rules.extend(asked.rules.iter().cloned());
    }
    if rules.is_empty() {
        return Ok(());
    }
    let checked = spawn_blocking(move || rules.iter().try_for_each(check_rule)).await;
    let problem = checked.map_err(|error| Error::Internal { detail: error.to_string() })?;
    problem.map_err(|problem| Error::Refused { code: "invalid_value", detail: format!("{FIELD}: {problem}") })
}

fn check_rule(rule: &InterventionRule) -> Result<(), String> {
    if rule.when.is_empty() {
        return Err("`when` of a rule must have an argument with its JSON Schema".to_owned());
    }
    check_intervention_rule(rule).map_err(|problem| format!("`when` of a rule cannot be used: {problem}"))
}
