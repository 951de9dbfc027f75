//! A store of agents per test.

use std::ops::Deref;

use agents::{AgentStore, StoreConfig};
use registry::{Clock, Config, StoreOptions};

use crate::{database, fixtures};

/// A data directory with its store, and the tables of agents in it.
pub struct World {
    pub agent_store: AgentStore,
    base: fixtures::World,
}

impl Deref for World {
    type Target = fixtures::World;

    fn deref(&self) -> &Self::Target {
        &self.base
    }
}

impl World {
    pub async fn new() -> Self {
        Self::with(Config::for_tests(), StoreConfig::for_tests()).await
    }

    pub async fn with(config: Config, agent_config: StoreConfig) -> Self {
        let (mut opened, database) = (None, database::fresh().await);
        let open = async |options: StoreOptions<'_>| {
            let agent_store = AgentStore::open(StoreOptions { config, ..options }, agent_config).await?;
            Ok(opened.insert(agent_store).registry().clone())
        };
        let base = fixtures::World::opened_by(tempfile::tempdir().unwrap(), database, open).await.unwrap();
        Self { agent_store: opened.unwrap(), base }
    }

    /// Opens the same data beside this store, as another server.
    pub async fn beside(&self) -> AgentStore {
        AgentStore::open(StoreOptions { clock: Clock::system(), ..self.options() }, StoreConfig::for_tests())
            .await
            .unwrap()
    }
}
