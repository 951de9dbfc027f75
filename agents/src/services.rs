//! The services of a server that know agents.

use std::sync::Arc;

use registry::Artifacts;
use runner::{Extensions, Invoker, Storage};

use crate::catalogue::Catalogues;
use crate::config::Config;
use crate::due_tasks::DueTasks;
use crate::error::Error;
use crate::platform_tools::platform_tools;
use crate::rules::UserRules;
use crate::runs::{AgentRunParts, AgentRunService, list_control_tool_names};
use crate::store::AgentStore;
use crate::turns::Turns;

/// The services of agents: their tools, the turns of their conversations, their runs and their tasks. Clones share their state.
#[derive(Clone)]
pub struct AgentServices {
    pub catalogues: Catalogues,
    pub turns: Turns,
    pub runs: AgentRunService,
    pub due_tasks: DueTasks,
    invoker: Invoker,
    rules: UserRules,
    store: AgentStore,
}

impl AgentServices {
    /// Starts an invoker with the server's own tools and the rules of users, and everything that makes calls through it.
    ///
    /// # Errors
    /// When a tool lacks something, or the engine's settings do not fit the machine.
    pub fn start(
        runner: &runner::Config,
        config: Config,
        store: AgentStore,
        artifacts: Artifacts,
    ) -> Result<Self, Error> {
        let (clock, storage) =
            (store.registry().clock().clone(), Storage { store: store.registry().clone(), artifacts });
        let (natives, rules) = (platform_tools(&store)?, UserRules::new(store.clone(), clock.clone()));
        let extensions = Extensions { natives: natives.clone(), policy: Some(Arc::new(rules.clone())) };
        let invoker = Invoker::start(runner, storage, clock.clone(), extensions)?;
        let catalogues = Catalogues::new(store.clone(), natives.clone(), list_control_tool_names());
        let Config { model, runs_due_tasks } = config;
        Ok(Self {
            turns: Turns::new(store.clone(), natives, catalogues.clone()),
            due_tasks: DueTasks {
                store: store.clone(),
                clock: clock.clone(),
                starts_runs: runs_due_tasks && model.is_some(),
            },
            runs: AgentRunService::new(AgentRunParts {
                invoker: invoker.clone(),
                store: store.clone(),
                clock,
                catalogues: catalogues.clone(),
                rules: rules.clone(),
                model,
            }),
            invoker,
            catalogues,
            rules,
            store,
        })
    }

    /// The tables of agents.
    #[must_use]
    pub const fn store(&self) -> &AgentStore {
        &self.store
    }

    /// The invoker of all calls, of agents or not.
    #[must_use]
    pub const fn invoker(&self) -> &Invoker {
        &self.invoker
    }

    /// Drops what has expired from the caches of agents and of the invoker's store.
    pub fn drop_expired(&self) {
        self.invoker.drop_expired();
        self.rules.drop_expired();
        self.catalogues.drop_expired();
        self.store.drop_expired();
    }
}
