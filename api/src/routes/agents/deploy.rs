//! `POST /v1/{organization}/agent/{agent_id}/deploy`: makes the draft the running revision.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use registry::{AgentDraft, AgentId, AgentState, Assignment, Callable, HumanIntervention, Principal, Store};
use runner::Invoker;

use super::revision;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{OperationDoc, Tag};
use crate::wire::AgentRevision;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("deploy-agent", Tag::Agents, "Deploy the draft of an agent")
        .description(
            "Makes the draft the running revision, with the next number. A revision never changes. Every tool of an \
            assignment or of a state must be live and have a live version that matches, with the pinned digest if there is one. A draft that has not changed since the last \
            deployment returns the running revision again. Names in `builtInTools` that are no family and no \
            tool are warned of, and names in `humanIntervention` that are no API and no argument of the tool.",
        )
        .returns::<AgentRevision>(200, "The running revision.", revision::example())
        .errors(400, &["assignment_unusable", "too_many"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    State(invoker): State<Invoker>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
) -> Result<Json<AgentRevision>, Error> {
    let revision = store.deploy_agent(&principal, &agent).await?;
    let warnings = warnings(&revision.content, &invoker);
    let warnings = [warnings, unknown_names(&revision.content, (&store, &principal)).await].concat();
    Ok(Json(AgentRevision { warnings, ..revision.into() }))
}

/// The names that are no family, and those that are no tool of the server which agents call.
fn warnings(content: &AgentDraft, invoker: &Invoker) -> Vec<String> {
    let tools = &content.built_in_tools;
    let families = tools.unknown().into_iter();
    let families = families.map(|name| format!("builtInTools names the family {name}, which does not exist"));
    let is_of_agents = |name: &str| {
        invoker.native_tools().iter().any(|tool| tool.name == name)
            && invoker.turn_tools().all(|tool| tool.name != name)
    };
    let names = tools.human_intervention.keys().filter(|name| !is_of_agents(name.as_str()));
    let names = names.map(|name| format!("builtInTools.humanIntervention names {name}, which is no tool of agents"));
    families.chain(names).collect()
}

/// The names in assignments that are no API and no argument of the version that agents call now. The revision runs already, so
/// that a store that fails takes only the warnings away.
async fn unknown_names(content: &AgentDraft, (store, user): (&Store, &Principal)) -> Vec<String> {
    let mut unknown = BTreeSet::new();
    for assignment in content.assignments.iter().chain(content.states.iter().flat_map(AgentState::specs)) {
        let Assignment { tool_id, version_constraint, human_intervention, .. } = assignment;
        if human_intervention.apis.is_empty() && human_intervention.rules.is_empty() {
            continue;
        }
        match store.callable(&user.organization, tool_id, version_constraint).await {
            Ok(Some(callable)) => unknown.extend(names_without_effect(human_intervention, &callable)),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "names in confirmations are not compared"),
        }
    }
    unknown.into_iter().collect()
}

fn names_without_effect(asked: &HumanIntervention, Callable { tool, version, .. }: &Callable) -> Vec<String> {
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
