//! Makes the vectors of memories in the background.

use std::time::Duration;

use agents::AgentStore;
use tokio::time::{sleep, timeout};

/// Time after which memories are looked for that other servers wrote and did not finish, or that an endpoint refused.
const PERIOD: Duration = Duration::from_mins(1);

/// Time between two rounds, within which memories are collected.
const PAUSE: Duration = Duration::from_millis(500);

pub async fn make_vectors(store: AgentStore) {
    loop {
        match store.embed_memories().await {
            Ok(0) => {}
            Ok(made) => tracing::debug!(made, "memories have got vectors"),
            Err(error) => tracing::warn!(%error, "memories get no vectors for now; they are found by their words"),
        }
        sleep(PAUSE).await;
        // The end of the period is no failure.
        let _ = timeout(PERIOD, store.memory_written()).await;
    }
}
