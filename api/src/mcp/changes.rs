//! Changes of the tools that a client sees: by a publication, a deprecation, a deployment, or a change of rights.

use std::sync::Arc;
use std::time::Duration;

use registry::{AgentReference, Digest, Store};
use runner::Invoker;
use tokio::time::{sleep, timeout};

use super::scope::Scope;

/// Time in which changes are announced together.
const TOGETHER: Duration = Duration::from_millis(50);
/// Time after which rights and tools are compared although nothing was announced.
const CHECK_EVERY: Duration = Duration::from_secs(30);

/// The tools that one client sees.
pub(super) struct Watched {
    pub store: Store,
    pub invoker: Invoker,
    pub scope: Arc<Scope>,
}

impl Watched {
    /// Returns the digest of the tools that the client sees now; `None` when its user has no rights any more, or the agent is gone.
    pub async fn digest(&self) -> Option<Digest> {
        let principal = self.scope.rights.check().await.ok()?;
        let reference = AgentReference::from(&self.scope.running.agent.id);
        let running = self.store.running_agent(&principal, &reference).await.ok()??;
        let catalogue = self.invoker.catalogue(&principal, running).await.ok()?;
        Some(catalogue.digest())
    }

    /// Waits until the client would see other tools than those of `last`.
    pub async fn changed(&self, last: Option<Digest>) -> Option<Digest> {
        let mut generation = self.store.generation();
        loop {
            let now = self.digest().await;
            if now != last {
                return now;
            }
            // An error means that the server ends.
            let _ = timeout(CHECK_EVERY, generation.changed()).await;
            sleep(TOGETHER).await;
        }
    }
}
