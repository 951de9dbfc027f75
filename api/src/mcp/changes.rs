//! Changes of what a client sees: of the tools by a publication, a deprecation, a deployment or a change of rights, of prompts and
//! resources also by a change of the Library.

use std::sync::Arc;
use std::time::Duration;

use registry::{AgentReference, Digest, LibraryFamily, Store};
use rmcp::ErrorData;
use rmcp::model::{
    PromptListChangedNotification, ResourceListChangedNotification, ServerNotification, SubscriptionFilter,
    ToolListChangedNotification,
};
use runner::{Catalogue, Invoker, ListedTool};
use tokio::time::{sleep, timeout};

use super::library_items::LibraryItems;
use super::mixed_list::digest_of;
use super::resource_watch::{VisibleResources, WatchedResources};
use super::scope::Scope;
use super::tool_forms;
use crate::error::Error;

/// Time in which changes are announced together.
const TOGETHER: Duration = Duration::from_millis(50);
/// Time after an error before the next look.
const TRIED_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// Time after which rights and lists are compared although nothing was announced.
const CHECK_EVERY: Duration = Duration::from_secs(30);

/// The lists and the resources of which one client is told.
pub(super) struct Watched {
    pub store: Store,
    pub invoker: Invoker,
    pub scope: Arc<Scope>,
    pub lists: SubscriptionFilter,
    pub resources: WatchedResources,
}

/// Digests of the lists that a client sees. `None` for a list that is not watched.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    tools: Digest,
    prompts: Option<Digest>,
    resources: Option<Digest>,
}

impl Watched {
    /// Returns what the client sees at the beginning; `None` when its user has no rights any more, or the agent is gone.
    pub async fn begin(&self) -> Option<Seen> {
        let (seen, catalogue) = self.seen().await.ok()??;
        let resources = self.lists.resource_subscriptions.as_deref().unwrap_or_default();
        self.resources.add_all(resources, &self.visible(&catalogue)).await.ok()?;
        Some(seen)
    }

    fn visible<'a>(&'a self, catalogue: &'a Catalogue) -> VisibleResources<'a> {
        VisibleResources { store: &self.store, scope: &self.scope, catalogue }
    }

    /// Returns what the client sees now. An error passes: the database does not answer, for example.
    async fn seen(&self) -> Result<Option<(Seen, Arc<Catalogue>)>, ErrorData> {
        let principal = match self.scope.rights.check().await {
            Ok(principal) => principal,
            Err(Error::Unauthenticated | Error::Forbidden { .. } | Error::NotFound) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let reference = AgentReference::from(&self.scope.running.agent.id);
        let found = self.store.running_agent(&principal, &reference).await.map_err(failed)?;
        let Some(running) = found else { return Ok(None) };
        let catalogue = self.invoker.catalogue(&principal, running).await.map_err(failed)?;
        let SubscriptionFilter { prompts_list_changed, resources_list_changed, .. } = self.lists;
        let prompts = (LibraryFamily::Prompts, tool_forms::prompts(&catalogue));
        let resources = (LibraryFamily::Artifacts, tool_forms::resources(&catalogue));
        let seen = Seen {
            tools: catalogue.digest(),
            prompts: self.digest(&catalogue, prompts, prompts_list_changed).await.map_err(failed)?,
            resources: self.digest(&catalogue, resources, resources_list_changed).await.map_err(failed)?,
        };
        Ok(Some((seen, catalogue)))
    }

    /// Returns a digest of a list that is watched.
    async fn digest(
        &self,
        catalogue: &Catalogue,
        (family, tools): (LibraryFamily, Vec<&ListedTool>),
        is_watched: Option<bool>,
    ) -> Result<Option<Digest>, registry::Error> {
        if is_watched != Some(true) {
            return Ok(None);
        }
        let tools = digest_of(&tools).to_hex();
        let items = match catalogue.running.has_family(family) {
            true => LibraryItems::of(&self.store, &self.scope, family).digest().await?.to_hex(),
            false => String::new(),
        };
        Ok(Some(Digest::of(format!("{tools} {items}").as_bytes())))
    }

    /// Waits until the client would see other lists than those of `last`, or other resources, and returns the lists with the
    /// notifications.
    pub async fn changed(&self, last: Seen) -> Option<(Seen, Vec<ServerNotification>)> {
        let mut generation = self.store.generation();
        loop {
            match self.look(last).await {
                Ok(None) => return None,
                Ok(Some((now, notifications))) if now != last || !notifications.is_empty() => {
                    return Some((now, notifications));
                }
                Ok(_) => {}
                Err(_) => {
                    sleep(TRIED_AGAIN_AFTER).await;
                    continue;
                }
            }
            // An error means that the server ends.
            let _ = timeout(CHECK_EVERY, generation.changed()).await;
            sleep(TOGETHER).await;
        }
    }

    async fn look(&self, last: Seen) -> Result<Option<(Seen, Vec<ServerNotification>)>, ErrorData> {
        let Some((now, catalogue)) = self.seen().await? else { return Ok(None) };
        let mut notifications = self.notifications(last, now);
        notifications.extend(self.resources.changed(&self.visible(&catalogue)).await?);
        Ok(Some((now, notifications)))
    }

    fn notifications(&self, last: Seen, now: Seen) -> Vec<ServerNotification> {
        let tools = ServerNotification::ToolListChangedNotification(ToolListChangedNotification::default());
        let prompts = ServerNotification::PromptListChangedNotification(PromptListChangedNotification::default());
        let resources = ServerNotification::ResourceListChangedNotification(ResourceListChangedNotification::default());
        let changes = [
            (self.lists.tools_list_changed, last.tools != now.tools, tools),
            (self.lists.prompts_list_changed, last.prompts != now.prompts, prompts),
            (self.lists.resources_list_changed, last.resources != now.resources, resources),
        ];
        let told = changes.into_iter().filter(|(is_watched, has_changed, _)| *is_watched == Some(true) && *has_changed);
        told.map(|(_, _, notification)| notification).collect()
    }
}

fn failed(error: impl std::fmt::Display) -> ErrorData {
    tracing::warn!(%error, "changes for an MCP client are looked for again");
    ErrorData::internal_error("The server failed.", None)
}
