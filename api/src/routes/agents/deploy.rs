//! `POST /v1/{organization}/agent/{agent_id}/deploy`: makes the draft the running revision.

use axum::Json;
use axum::extract::State;
use registry::{AgentId, BuiltInTools, Store};

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
            deployment returns the running revision again. Names in `builtInTools` that are no family are warned of.",
        )
        .returns::<AgentRevision>(200, "The running revision.", revision::example())
        .errors(400, &["assignment_unusable", "too_many"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
) -> Result<Json<AgentRevision>, Error> {
    let revision = store.deploy_agent(&principal, &agent).await?;
    let warnings = warnings(&revision.content.built_in_tools);
    Ok(Json(AgentRevision { warnings, ..revision.into() }))
}

fn warnings(tools: &BuiltInTools) -> Vec<String> {
    let unknown = tools.unknown().into_iter();
    unknown.map(|name| format!("builtInTools names the family {name}, which does not exist")).collect()
}
