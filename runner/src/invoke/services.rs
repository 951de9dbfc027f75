//! Services that every recorded run uses.

use std::sync::Arc;

use registry::{Clock, Recordings, Store};

use super::cancellation::CancellableRuns;
use super::compiled_rules::CompiledRules;
use super::record_retries::RecordRetries;
use super::rule_cache::RuleCache;
use crate::egress::Egress;
use crate::executor::Executor;
use crate::model::Model;
use crate::schema::SchemaMatcher;

#[derive(Clone)]
pub(super) struct Services {
    pub store: Store,
    pub recordings: Recordings,
    pub clock: Clock,
    /// The URL of the server, before the paths of links to it.
    pub base_url: Arc<str>,
    /// The model of runs of agents.
    pub model: Option<Arc<Model>>,
    pub runs_due_tasks: bool,
    pub executor: Executor,
    pub schemas: SchemaMatcher,
    pub egress: Egress,
    pub retries: RecordRetries,
    pub cancellable: CancellableRuns,
    pub rules: RuleCache,
    pub compiled_rules: CompiledRules,
}
