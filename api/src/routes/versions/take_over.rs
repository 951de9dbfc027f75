//! Publications whose server is gone: this server begins them again.

use api_kit::error::Error;
use api_kit::extract::parse_body;
use futures_util::FutureExt;
use registry::{Permission, Principal, QueuedPublication, Store};
use repository::CommitId;

use super::publish::Publication;
use crate::app::App;
use crate::take_over::take_over;
use crate::work::{Events, FinalResponse, RunningOperation, WorkContext};

/// Publications that a server takes over and carries out at the same time. Others wait for their turn, or for another server.
const PARALLEL_MAX: usize = 4;

/// Carries out publications whose server is gone, until this one is about to end.
pub async fn take_over_publications(app: App) {
    let next = |app: App| async move {
        let found = app.store().versions().take_over_publication().await?;
        Ok::<_, registry::Error>(found.map(|publication| carry_out(app, publication)))
    };
    take_over(app, PARALLEL_MAX, next).await;
}

/// Carries a publication out in a task of its own, which the shutdown waits for.
async fn carry_out(app: App, publication: QueuedPublication) {
    tracing::info!(operation = %publication.id, tool = %publication.tool, "a publication goes on here: its server is gone");
    let running = RunningOperation {
        store: app.store().clone(),
        request: app.request_ids().next(),
        organization: publication.organization.clone(),
        id: publication.id.clone(),
    };
    let work = publish(app.clone(), publication).boxed();
    // A server that stops leaves the publication to the others.
    if let Ok(done) = app.tasks().spawn(running.carry_out(work)) {
        drop(done.await);
    }
}

/// Publishes with the present rights of the user.
async fn publish(app: App, queued: QueuedPublication) -> Result<FinalResponse, Error> {
    let publication = restore_publication(app.store(), &queued).await?;
    publication.permit(app.store(), Permission::ModifyTool).await?;
    publication.permit_gate(app.store()).await?;
    let context = WorkContext { events: Events::none(), operation: Some(queued.id) };
    publication.carry_out(app.builder().clone(), context).await
}

async fn restore_publication(store: &Store, queued: &QueuedPublication) -> Result<Publication, Error> {
    let body = serde_json::from_str(&queued.request).map_err(|error| explain_damage(&error))?;
    let commit = queued.commit.as_deref().map(CommitId::parse).transpose().map_err(|error| explain_damage(&error))?;
    let (principal, request) = (find_principal(store, queued).await?, parse_body(&body)?);
    Ok(Publication { principal, tool: queued.tool.clone(), request, commit, is_deliberate: queued.has_key })
}

fn explain_damage(error: &dyn std::fmt::Display) -> Error {
    Error::Internal { detail: format!("a stored publication is damaged: {error}") }
}

/// The user who sent the request, unless they have been removed.
async fn find_principal(store: &Store, queued: &QueuedPublication) -> Result<Principal, Error> {
    let found = store.versions().principal(&queued.organization, &queued.account).await?;
    found.ok_or(Error::Forbidden { permission: Permission::ModifyTool })
}
