//! The server's real components over a data directory. Programs that these tests do not need are absent.

use std::path::Path;

use agents::{AgentServices, AgentStore, StoreConfig};
use api::{Config as ApiConfig, Parts};
use builder::{Builder, BuilderServices};
use registry::{Artifacts, Clock, Config, DataDir, DatabaseLocation, KeyRing, StoreOptions};
use repository::{GitLimits, GitProgram, GitServer, Repositories};

const ABSENT: &str = "/absent";

pub async fn build_parts(root: &Path, config: ApiConfig, clock: Clock) -> Parts {
    // The builder's client needs a TLS provider, which another test may have installed.
    rustls::crypto::ring::default_provider().install_default().unwrap_or_default();
    let data = DataDir::open(root).unwrap();
    let keys = KeyRing::load(&data).unwrap();
    let options = StoreOptions {
        data: &data,
        database: DatabaseLocation::DataDirectory,
        keys: &keys,
        clock: clock.clone(),
        config: Config::for_tests(),
    };
    // A page of agents has 20.
    let store_config = StoreConfig { agents_max: 100, ..StoreConfig::for_tests() };
    let store = AgentStore::open(options, store_config).await.unwrap();
    let artifacts = Artifacts::open(&data).unwrap();
    let runner_config = runner::Config::new(data.cache(), keys.derive("compiled code"), ABSENT);
    let agents =
        AgentServices::start(&runner_config, agents::Config::default(), store.clone(), artifacts.clone()).unwrap();
    let git = repository::Config { root: data.git(), hook_program: ABSENT.into() };
    let repositories = Repositories::new(&git, clock.clone()).unwrap();
    let git = GitServer::new(repositories.clone(), GitProgram::find().unwrap(), GitLimits::default()).unwrap();
    let builder_config = builder::Config::new(data.cache(), data.scratch(), ABSENT);
    let services = BuilderServices {
        store: store.registry().clone(),
        artifacts,
        repositories: repositories.clone(),
        invoker: agents.invoker().clone(),
    };
    let builder = Builder::new(builder_config, services).await.unwrap();
    Parts { agents, builder, repositories, git, clock, config }
}
