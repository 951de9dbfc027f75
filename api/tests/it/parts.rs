//! The real parts over a data directory; programs that no test here needs are named and absent.

use std::path::Path;

use api::{Config as ApiConfig, Parts};
use builder::Builder;
use builder::source::{GitConfig, GitProgram, GitServer, Repositories};
use registry::{Artifacts, Clock, Config, DataDir, KeyRing, Store};
use runner::Invoker;

const ABSENT: &str = "/absent";

pub async fn parts(root: &Path, config: ApiConfig, clock: Clock) -> Parts {
    // The builder's client wants a provider; a second test finds the first one's in place.
    rustls::crypto::ring::default_provider().install_default().unwrap_or_default();
    let data = DataDir::open(root).unwrap();
    let keys = KeyRing::load(&data).unwrap();
    let store = Store::open(&data, &keys, clock.clone(), Config::for_tests()).await.unwrap();
    let artifacts = Artifacts::open(&data).unwrap();
    let runner_config = runner::Config::new(data.cache(), keys.derive("compiled code"), ABSENT);
    let invoker = Invoker::start(&runner_config, store.clone(), artifacts.clone(), clock.clone()).unwrap();
    let git = GitConfig { root: data.git(), hook_program: ABSENT.into() };
    let repositories = Repositories::new(&git, clock.clone()).unwrap();
    let git = GitServer::new(repositories.clone(), GitProgram::find().unwrap()).unwrap();
    let builder_config = builder::Config::new(data.cache(), data.scratch(), ABSENT);
    let builder =
        Builder::new(builder_config, store.clone(), artifacts, repositories.clone(), invoker.clone()).await.unwrap();
    Parts { store, invoker, builder, repositories, git, clock, config }
}
