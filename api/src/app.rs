//! What the handlers share, assembled once at the start.

use std::sync::Arc;

use builder::Builder;
use builder::source::{GitServer, Repositories};
use registry::{Clock, Store};
use runner::Invoker;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::config::Config;
use crate::error::Error;
use crate::rate::Usage;

/// The parts of which an [`App`] is made.
pub struct Parts {
    pub store: Store,
    pub invoker: Invoker,
    pub builder: Builder,
    pub repositories: Repositories,
    pub git: GitServer,
    pub clock: Clock,
    pub config: Config,
}

/// The state of every handler; clones share it.
#[derive(Clone)]
pub struct App(Arc<Shared>);

struct Shared {
    parts: Parts,
    tasks: TaskTracker,
    usage: Usage,
}

impl App {
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(Shared { parts, tasks: TaskTracker::new(), usage: Usage::default() }))
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.parts.store
    }

    pub(crate) fn invoker(&self) -> &Invoker {
        &self.0.parts.invoker
    }

    pub(crate) fn builder(&self) -> &Builder {
        &self.0.parts.builder
    }

    pub(crate) fn repositories(&self) -> &Repositories {
        &self.0.parts.repositories
    }

    pub(crate) fn git(&self) -> &GitServer {
        &self.0.parts.git
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.0.parts.clock
    }

    pub(crate) fn config(&self) -> &Config {
        &self.0.parts.config
    }

    pub(crate) fn usage(&self) -> &Usage {
        &self.0.usage
    }

    /// Starts work that ends by itself, whatever becomes of the request; refused once the shutdown has begun.
    pub(crate) fn spawn<F>(&self, work: F) -> Result<JoinHandle<F::Output>, Error>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        if self.is_stopping() {
            return Err(Error::ShuttingDown);
        }
        Ok(self.0.tasks.spawn(work))
    }

    /// From here on no work is started; what runs goes on.
    pub(crate) fn stop_admitting(&self) {
        self.0.tasks.close();
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.0.tasks.is_closed()
    }

    /// The work that runs.
    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.0.tasks
    }
}
