//! Changes of the lists that a client sees: of the tools by a publication, a deprecation, a deployment or a change of rights, of
//! prompts and resources by a change of the Library.

use std::sync::Arc;
use std::time::Duration;

use registry::{AgentReference, Digest, LibraryFamily, RunningAgent, Store};
use rmcp::model::{
    PromptListChangedNotification, ResourceListChangedNotification, ServerNotification, SubscriptionFilter,
    ToolListChangedNotification,
};
use runner::Invoker;
use tokio::time::{sleep, timeout};

use super::library_items::LibraryItems;
use super::scope::Scope;

/// Time in which changes are announced together.
const TOGETHER: Duration = Duration::from_millis(50);
/// Time after which rights and lists are compared although nothing was announced.
const CHECK_EVERY: Duration = Duration::from_secs(30);

/// The lists of which one client is told.
pub(super) struct Watched {
    pub store: Store,
    pub invoker: Invoker,
    pub scope: Arc<Scope>,
    pub lists: SubscriptionFilter,
}

/// Digests of the lists that a client sees. `None` for items that are not watched, or whose family the agent does not have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    tools: Digest,
    prompts: Option<Digest>,
    resources: Option<Digest>,
}

impl Watched {
    /// Returns what the client sees now; `None` when its user has no rights any more, or the agent is gone.
    pub async fn seen(&self) -> Option<Seen> {
        let principal = self.scope.rights.check().await.ok()?;
        let reference = AgentReference::from(&self.scope.running.agent.id);
        let running = self.store.running_agent(&principal, &reference).await.ok()??;
        let SubscriptionFilter { prompts_list_changed, resources_list_changed, .. } = self.lists;
        let prompts = self.digest(&running, (LibraryFamily::Prompts, prompts_list_changed)).await.ok()?;
        let resources = self.digest(&running, (LibraryFamily::Artifacts, resources_list_changed)).await.ok()?;
        let tools = self.invoker.catalogue(&principal, running).await.ok()?.digest();
        Some(Seen { tools, prompts, resources })
    }

    async fn digest(
        &self,
        running: &RunningAgent,
        (family, is_watched): (LibraryFamily, Option<bool>),
    ) -> Result<Option<Digest>, registry::Error> {
        if is_watched != Some(true) || !running.has_family(family) {
            return Ok(None);
        }
        LibraryItems::of(&self.store, &self.scope, family).digest().await.map(Some)
    }

    /// Waits until the client would see other lists than those of `last`, and returns them with the notifications.
    pub async fn changed(&self, last: Seen) -> Option<(Seen, Vec<ServerNotification>)> {
        let mut generation = self.store.generation();
        loop {
            let now = self.seen().await;
            if now != Some(last) {
                return now.map(|now| (now, self.notifications(last, now)));
            }
            // An error means that the server ends.
            let _ = timeout(CHECK_EVERY, generation.changed()).await;
            sleep(TOGETHER).await;
        }
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
