//! `POST /v1/{organization}/agent/{agent_id}/deploy`: makes the draft the running revision.

use std::collections::BTreeSet;

use agents::{AgentDraft, AgentState, AgentStore, Assignment, Catalogues, describes_objects, names_object_type};
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{AgentId, Callable, HumanIntervention, Principal, SchemaText, visible_json};
use serde_json::{Map, Value, json};

use super::revision;
use crate::sections;
use crate::wire::AgentRevision;

/// Names and keywords that one warning repeats.
const SHOWN_MAX: usize = 5;
/// Characters of the name of an argument that all model APIs accept.
const KEY_CHARACTERS_MAX: usize = 64;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("deploy-agent", sections::AGENTS, "Deploy the draft of an agent")
        .description(
            "Makes the draft the running revision, with the next number. A revision never changes. Every tool of an \
            assignment or of a state must be live and have a live version that matches, with the pinned digest if there is one. A draft that has not changed since the last \
            deployment returns the running revision again. Names in `builtInTools` that are no family and no \
            tool are warned of, names in `humanIntervention` that are no API and no argument of the tool, and schemas of tools \
            without `type` at their root.",
        )
        .returns::<AgentRevision>(200, "The running revision.", revision::example())
        .errors(400, &["assignment_unusable", "too_many"])
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    State(catalogues): State<Catalogues>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
) -> Result<Json<AgentRevision>, Error> {
    let revision = store.agents().deploy_agent(&principal, &agent).await?;
    let warnings = find_warnings(&revision.content, &catalogues);
    let warnings = [warnings, find_warnings_of_versions(&revision.content, &store, &principal).await].concat();
    Ok(Json(AgentRevision { warnings, ..revision.into() }))
}

/// The names that are no family, and those that are no tool of the server which agents call.
fn find_warnings(content: &AgentDraft, catalogues: &Catalogues) -> Vec<String> {
    let tools = &content.built_in_tools;
    let families = tools.unknown().into_iter();
    let families = families.map(|name| format!("builtInTools names the family {name}, which does not exist"));
    let names = tools.human_intervention.keys().filter(|name| !catalogues.may_have_native(name.as_str()));
    let names = names.map(|name| format!("builtInTools.humanIntervention names {name}, which is no tool of agents"));
    families.chain(names).collect()
}

/// What may be a mistake in the versions that agents call now: schemas that clients do not take as they are, and names in assignments
/// that are no API and no argument. The revision runs already, so that a store that fails takes only the warnings away.
async fn find_warnings_of_versions(content: &AgentDraft, store: &AgentStore, user: &Principal) -> Vec<String> {
    let mut found = BTreeSet::new();
    for assignment in content.assignments.iter().chain(content.states.iter().flat_map(AgentState::specs)) {
        let Assignment { tool_id, version_constraint, human_intervention, .. } = assignment;
        match store.registry().versions().callable(&user.organization, tool_id, version_constraint).await {
            Ok(Some(callable)) => {
                found.extend(find_names_without_effect(human_intervention, &callable));
                found.extend(find_schemas_without_object(&callable));
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the versions of assignments are not compared"),
        }
    }
    found.into_iter().collect()
}

/// The schemas whose root names no type. One of inputs is shown with the type, and one of outputs that need not be objects is not shown.
fn find_schemas_without_object(Callable { tool, version, .. }: &Callable) -> Vec<String> {
    let settings = &version.settings;
    let own = (tool.name.to_string(), &version.input_schema, settings.output_schema.as_ref());
    let of_apis = settings
        .apis
        .iter()
        .map(|(name, api)| (format!("the API {name} of {}", tool.name), &api.input_schema, api.output_schema.as_ref()));
    let of_apis: Vec<_> = of_apis.collect();
    let described = if of_apis.is_empty() { vec![own] } else { of_apis };
    let mut told = Vec::new();
    for (name, input, output) in described {
        let input = input.value();
        if !names_object_type(&input) {
            told.push(format!(
                "the input schema of {name} has no \"type\": \"object\" at its root ({}): MCP clients get it with that type, and model \
                 APIs with the properties of all alternatives; write the type into the schema",
                list_root_keywords(&input)
            ));
        }
        let keys = find_refused_keys(&input);
        if !keys.is_empty() {
            told.push(format!(
                "the input schema of {name} has properties that some model APIs refuse, together with all other tools: {keys}; name them with 1 \
                 to {KEY_CHARACTERS_MAX} characters of a-z A-Z 0-9 _ . -"
            ));
        }
        let output = output.map(SchemaText::value).filter(|output| output.get("type").is_none());
        if let Some(output) = output.filter(|output| !describes_objects(output)) {
            told.push(format!(
                "the output schema of {name} has no \"type\" at its root ({}) and may describe other values than objects: MCP clients \
                 get no output schema; write the type into the schema",
                list_root_keywords(&output)
            ));
        }
    }
    told
}

/// The names of arguments that the APIs of some models do not accept.
fn find_refused_keys(schema: &Value) -> String {
    let is_accepted = |key: &str| {
        let is_of_key = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        (1..=KEY_CHARACTERS_MAX).contains(&key.len()) && key.bytes().all(is_of_key)
    };
    let keys = schema["properties"].as_object().into_iter().flat_map(Map::keys);
    let refused = keys.filter(|key| !is_accepted(key)).take(SHOWN_MAX);
    let refused = refused.map(|key| key.chars().take(KEY_CHARACTERS_MAX).collect::<String>());
    refused.map(|key| visible_json(&json!(key).to_string())).collect::<Vec<_>>().join(", ")
}

/// The keywords at the root, which tell the author what is there instead of a type.
fn list_root_keywords(schema: &Value) -> String {
    match schema {
        Value::Object(members) if !members.is_empty() => {
            members.keys().take(SHOWN_MAX).map(String::as_str).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

fn find_names_without_effect(asked: &HumanIntervention, Callable { tool, version, .. }: &Callable) -> Vec<String> {
    let told = |what: &str, name: &str| {
        format!("humanIntervention of {} names the {what} {name}, which does not exist", tool.name)
    };
    let apis = asked.apis.keys().filter(|name| !version.settings.apis.contains_key(*name));
    let apis = apis.map(|name| told("API", &name.to_string()));
    let schema = version.input_schema.value();
    let properties = schema["properties"].as_object();
    let named = asked.rules.iter().flat_map(|rule| rule.when.keys());
    let arguments = named.filter(|name| properties.is_some_and(|known| !known.contains_key(*name)));
    apis.chain(arguments.map(|name| told("argument", name))).collect()
}
