//! Where runs are: in processes of their own, or on one thread of this one.

use registry::Digest;
use tokio::sync::watch;

use crate::codes::Codes;
use crate::{Config, Error, Executed, Execution, Pool, Ports, Sandbox};

#[derive(Clone)]
pub(crate) enum Executor {
    Here(Sandbox),
    Apart(Pool),
}

impl Executor {
    pub fn start(config: &Config, codes: Codes) -> Result<Self, Error> {
        match &config.runners {
            None => Sandbox::start(config, codes).map(Self::Here),
            Some(runners) => Pool::start(config, runners, codes).map(Self::Apart),
        }
    }

    pub async fn run(&self, execution: Box<Execution>, ports: Ports) -> Result<Executed, Error> {
        match self {
            Self::Here(sandbox) => sandbox.run(execution, ports).await,
            Self::Apart(pool) => pool.run(execution, ports).await,
        }
    }

    /// Has a component loaded before a run of it comes, where that takes time.
    pub fn load(&self, component: &Digest) {
        if let Self::Apart(pool) = self {
            pool.load(component);
        }
    }

    pub fn alive(&self) -> Option<watch::Receiver<usize>> {
        match self {
            Self::Here(_) => None,
            Self::Apart(pool) => Some(pool.alive()),
        }
    }
}
