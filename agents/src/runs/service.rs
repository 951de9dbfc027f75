//! The service of runs of agents.

use std::sync::Arc;

use registry::Clock;
use runner::Invoker;

use super::working::WorkingRuns;
use crate::catalogue::Catalogues;
use crate::model::Model;
use crate::rules::UserRules;
use crate::store::AgentStore;

/// Starts runs of agents, works on them, and shows them. Clones share its state.
#[derive(Clone)]
pub struct AgentRunService {
    pub(super) invoker: Invoker,
    pub(super) store: AgentStore,
    pub(super) clock: Clock,
    pub(super) catalogues: Catalogues,
    pub(super) rules: UserRules,
    pub(super) model: Option<Arc<Model>>,
    pub(super) working: WorkingRuns,
}

/// The parts of a server that runs of agents need.
pub(crate) struct AgentRunParts {
    pub invoker: Invoker,
    pub store: AgentStore,
    pub clock: Clock,
    pub catalogues: Catalogues,
    pub rules: UserRules,
    pub model: Option<Arc<Model>>,
}

impl AgentRunService {
    pub(crate) fn new(parts: AgentRunParts) -> Self {
        let AgentRunParts { invoker, store, clock, catalogues, rules, model } = parts;
        Self { invoker, store, clock, catalogues, rules, model, working: WorkingRuns::default() }
    }
}
