//! Executes runs in runner processes, or on one thread of this process.

use registry::Digest;
use tokio::sync::watch;

use crate::sandbox::code::CodeStore;
use crate::{Config, Error, Executed, Execution, Ports, RunnerPool, Sandbox};

#[derive(Clone)]
pub(crate) enum Executor {
    InProcess(Sandbox),
    RunnerProcesses(RunnerPool),
}

impl Executor {
    pub fn start(config: &Config, codes: CodeStore) -> Result<Self, Error> {
        match &config.runners {
            None => Sandbox::start(config, codes).map(Self::InProcess),
            Some(runners) => RunnerPool::start(config, runners, codes).map(Self::RunnerProcesses),
        }
    }

    pub async fn run(&self, execution: Box<Execution>, ports: Ports) -> Result<Executed, Error> {
        match self {
            Self::InProcess(sandbox) => sandbox.run(execution, ports).await,
            Self::RunnerProcesses(pool) => pool.run(execution, ports).await,
        }
    }

    /// Loads a component into the runner processes, before its first run.
    pub fn load(&self, component: &Digest) {
        if let Self::RunnerProcesses(pool) = self {
            pool.load(component);
        }
    }

    pub fn alive(&self) -> Option<watch::Receiver<usize>> {
        match self {
            Self::InProcess(_) => None,
            Self::RunnerProcesses(pool) => Some(pool.alive()),
        }
    }
}
