//! The state of all handlers, assembled once at the start.

use std::sync::Arc;

use axum::extract::FromRef;
use builder::Builder;
use builder::source::{GitServer, Repositories};
use registry::{Clock, Store};
use runner::Invoker;

use crate::config::Config;
use crate::mcp::{Calling, Challenge, Dialogues, McpEndpoint};
use crate::readiness::Readiness;
use crate::request_id::RequestIds;
use crate::tasks::Tasks;

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
    tasks: Tasks,
    request_ids: RequestIds,
    readiness: Readiness,
    mcp: McpEndpoint,
}

impl App {
    pub fn new(parts: Parts) -> Self {
        let request_ids = RequestIds::new(&parts.clock);
        let (tasks, readiness) = (Tasks::default(), Readiness::default());
        let dialogues = Dialogues::new(&parts.store);
        let calling = Calling { invoker: parts.invoker.clone(), tasks: tasks.clone(), dialogues };
        let mcp = McpEndpoint::new(parts.store.clone(), calling, parts.config.public_url.as_ref());
        Self(Arc::new(Shared { parts, tasks, request_ids, readiness, mcp }))
    }

    /// The readiness of the server's parts, which they report themselves.
    pub fn readiness(&self) -> &Readiness {
        &self.0.readiness
    }

    pub(crate) fn request_ids(&self) -> &RequestIds {
        &self.0.request_ids
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.parts.store
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.0.parts.clock
    }

    pub(crate) fn config(&self) -> &Config {
        &self.0.parts.config
    }

    pub(crate) fn builder(&self) -> &Builder {
        &self.0.parts.builder
    }

    pub(crate) fn mcp(&self) -> &McpEndpoint {
        &self.0.mcp
    }

    pub(crate) fn tasks(&self) -> &Tasks {
        &self.0.tasks
    }
}

impl FromRef<App> for Challenge {
    fn from_ref(app: &App) -> Self {
        Self(app.config().public_url.clone())
    }
}

/// The parts of the state that handlers take.
macro_rules! parts {
    ($($type:ident = $app:ident => $part:expr;)*) => {$(
        impl FromRef<App> for $type {
            fn from_ref($app: &App) -> Self {
                $part.clone()
            }
        }
    )*};
}

parts! {
    Store = app => app.0.parts.store;
    Invoker = app => app.0.parts.invoker;
    Builder = app => app.0.parts.builder;
    Repositories = app => app.0.parts.repositories;
    GitServer = app => app.0.parts.git;
    Clock = app => app.0.parts.clock;
    Tasks = app => app.0.tasks;
    Readiness = app => app.0.readiness;
    McpEndpoint = app => app.0.mcp;
}
