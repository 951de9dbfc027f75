//! The state of all handlers, assembled once at the start.

use std::sync::Arc;

use agents::{AgentRunService, AgentServices, AgentStore, Catalogues, Turns};
use api_kit::body_bounds::BodyBudget;
use api_kit::in_progress::RequestAdmission;
use api_kit::public_url::PublicBase;
use api_kit::rate::{KeyLimit, LimitFactory};
use api_kit::request_id::RequestIds;
use api_kit::tasks::Tasks;
use axum::extract::FromRef;
use builder::Builder;
use mcp::OauthServer;
use mcp::{Calling, Dialogues, McpEndpoint};
use registry::{Clock, Store};
use repository::{GitServer, Repositories};
use runner::Invoker;

use crate::config::Config;
use crate::readiness::Readiness;

/// The parts of which an [`App`] is made.
pub struct Parts {
    pub agents: AgentServices,
    pub builder: Builder,
    pub repositories: Repositories,
    pub git: GitServer,
    pub clock: Clock,
    pub config: Config,
}

/// The state of every handler; clones share it.
#[derive(Clone)]
pub struct App(Arc<AppParts>);

struct AppParts {
    parts: Parts,
    tasks: Tasks,
    request_ids: RequestIds,
    readiness: Readiness,
    mcp: McpEndpoint,
    limits: LimitFactory,
    key_limit: Option<Arc<KeyLimit>>,
    oauth: OauthServer,
    requests: RequestAdmission,
    bodies: BodyBudget,
}

impl App {
    pub fn new(parts: Parts) -> Self {
        let request_ids = RequestIds::new(&parts.clock);
        let (tasks, readiness) = (Tasks::default(), Readiness::default());
        let store = parts.agents.store();
        let dialogues = Dialogues::new(store.registry());
        let (invoker, agents) = (parts.agents.invoker().clone(), parts.agents.clone());
        let calling = Calling { invoker, agents, tasks: tasks.clone(), dialogues };
        let mcp = McpEndpoint::new(store.clone(), calling, parts.config.public_url.as_ref());
        let limits = parts.config.rate_limits.clone();
        let limits = LimitFactory::new(limits, parts.clock.clone(), Some(store.registry().clone()));
        let key_limit = KeyLimit::new(&limits).map(Arc::new);
        let oauth = OauthServer {
            store: store.clone(),
            documents: parts.agents.invoker().documents(),
            key_limit: key_limit.clone(),
            public: PublicBase(parts.config.public_url.clone()),
            accepts_registrations: parts.config.oauth_registration,
        };
        let requests = RequestAdmission::new(parts.config.requests, parts.config.connections.connections_max);
        let bodies = BodyBudget::default();
        Self(Arc::new(AppParts {
            parts,
            tasks,
            request_ids,
            readiness,
            mcp,
            limits,
            key_limit,
            oauth,
            requests,
            bodies,
        }))
    }

    /// The readiness of the server's parts, which they report themselves.
    pub fn readiness(&self) -> &Readiness {
        &self.0.readiness
    }

    pub(crate) fn request_ids(&self) -> &RequestIds {
        &self.0.request_ids
    }

    pub(crate) fn store(&self) -> &Store {
        self.0.parts.agents.store().registry()
    }

    pub(crate) fn config(&self) -> &Config {
        &self.0.parts.config
    }

    pub(crate) fn agents(&self) -> &AgentServices {
        &self.0.parts.agents
    }

    pub(crate) fn builder(&self) -> &Builder {
        &self.0.parts.builder
    }

    pub(crate) fn mcp(&self) -> &McpEndpoint {
        &self.0.mcp
    }

    /// The rate limits of all routes, which share their tables.
    pub(crate) fn limits(&self) -> &LimitFactory {
        &self.0.limits
    }

    /// The limit of checks of API keys; `None` when signing in has no limit.
    pub(crate) fn key_limit(&self) -> Option<Arc<KeyLimit>> {
        self.0.key_limit.clone()
    }

    /// The bounds of requests in progress.
    pub(crate) fn requests(&self) -> &RequestAdmission {
        &self.0.requests
    }

    /// The bytes of the bodies that are being read.
    pub(crate) fn bodies(&self) -> &BodyBudget {
        &self.0.bodies
    }

    pub(crate) fn tasks(&self) -> &Tasks {
        &self.0.tasks
    }
}

impl FromRef<App> for PublicBase {
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
    Store = app => app.store();
    AgentStore = app => app.0.parts.agents.store();
    Invoker = app => app.0.parts.agents.invoker();
    AgentServices = app => app.0.parts.agents;
    Catalogues = app => app.0.parts.agents.catalogues;
    Turns = app => app.0.parts.agents.turns;
    AgentRunService = app => app.0.parts.agents.runs;
    Builder = app => app.0.parts.builder;
    Repositories = app => app.0.parts.repositories;
    GitServer = app => app.0.parts.git;
    Clock = app => app.0.parts.clock;
    Tasks = app => app.0.tasks;
    Readiness = app => app.0.readiness;
    McpEndpoint = app => app.0.mcp;
    OauthServer = app => app.0.oauth;
}
