//! Changes of what a client sees: of the tools by a publication, a deprecation, a deployment or a change of rights, of prompts and
//! resources also by a change of the Library.

use std::sync::Arc;
use std::time::Duration;

use agents::{AgentReference, Catalogue};
use api_kit::error::Error;
use rmcp::ErrorData;
use rmcp::model::{
    PromptListChangedNotification, ResourceListChangedNotification, ServerNotification, SubscriptionFilter,
    ToolListChangedNotification,
};
use tokio::sync::watch;
use tokio::time::sleep;

use super::looks::{Lists, Look, Looks, Seen};
use super::resource_watch::{VisibleResources, WatchedResources};
use crate::calls::Viewpoint;

/// Time after an error before the resources are looked at again.
const TRIED_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// The lists and the resources of which one client is told.
pub struct Watched {
    pub looks: Looks,
    pub viewpoint: Viewpoint,
    pub lists: SubscriptionFilter,
    pub resources: WatchedResources,
}

/// The state that a client was told last.
pub struct Told {
    looks: watch::Receiver<Look>,
    seen: Seen,
}

impl Watched {
    /// Returns what the client sees at the beginning; `None` when its user has no rights any more, or the agent is gone.
    pub async fn begin(&self) -> Option<Told> {
        let is_watched = |list: Option<bool>| list == Some(true);
        let SubscriptionFilter { prompts_list_changed, resources_list_changed, .. } = self.lists;
        let lists = Lists { prompts: is_watched(prompts_list_changed), resources: is_watched(resources_list_changed) };
        let mut looks = self.looks.subscribe(&self.viewpoint, lists);
        let look = *looks.wait_for(|look| *look != Look::Awaited).await.ok()?;
        let Look::Seen(seen) = look else { return None };
        let resources = self.lists.resource_subscriptions.as_deref().unwrap_or_default();
        if !resources.is_empty() {
            let catalogue = self.find_catalogue().await.ok()??;
            self.resources.add_all(resources, &self.find_visible(&catalogue)).await.ok()?;
        }
        Some(Told { looks, seen })
    }

    fn find_visible<'a>(&'a self, catalogue: &'a Catalogue) -> VisibleResources<'a> {
        VisibleResources { store: &self.looks.store, viewpoint: &self.viewpoint, catalogue }
    }

    /// Returns the tools that the user sees now; `None` when the rights have ended, or the agent is gone.
    async fn find_catalogue(&self) -> Result<Option<Arc<Catalogue>>, ErrorData> {
        let principal = match self.viewpoint.rights.check().await {
            Ok(principal) => principal,
            Err(Error::Unauthenticated | Error::KeyEnded(_) | Error::Forbidden { .. } | Error::NotFound) => {
                return Ok(None);
            }
            Err(error) => return Err(log_retry(error)),
        };
        let reference = AgentReference::from(&self.viewpoint.agent);
        let found = self.looks.store.agents().running_agent(&principal, &reference).await.map_err(log_retry)?;
        let Some(running) = found else { return Ok(None) };
        self.looks.catalogues.catalogue(&principal, running).await.map(Some).map_err(log_retry)
    }

    /// Waits until the client sees other lists than it was told, or other resources, and returns the notifications. `None` when the
    /// rights have ended.
    pub async fn wait_for_changes(&self, told: &mut Told) -> Option<Vec<ServerNotification>> {
        loop {
            told.looks.changed().await.ok()?;
            let Look::Seen(now) = *told.looks.borrow_and_update() else { return None };
            let last = std::mem::replace(&mut told.seen, now);
            let mut notifications = self.list_notifications(last, now);
            if !self.resources.is_empty() && (last.tools, last.library) != (now.tools, now.library) {
                notifications.extend(self.find_changed_resources().await);
            }
            if !notifications.is_empty() {
                return Some(notifications);
            }
        }
    }

    /// Returns notifications of the resources that have changed.
    async fn find_changed_resources(&self) -> Vec<ServerNotification> {
        loop {
            let looked = async {
                // The rights end with the next look.
                let Some(catalogue) = self.find_catalogue().await? else { return Ok(Vec::new()) };
                self.resources.find_changes(&self.find_visible(&catalogue)).await
            };
            match looked.await {
                Ok(notifications) => return notifications,
                Err(_) => sleep(TRIED_AGAIN_AFTER).await,
            }
        }
    }

    fn list_notifications(&self, last: Seen, now: Seen) -> Vec<ServerNotification> {
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

fn log_retry(error: impl std::fmt::Display) -> ErrorData {
    tracing::warn!(%error, "changes of resources for an MCP client are looked for again");
    ErrorData::internal_error("The server failed.", None)
}
