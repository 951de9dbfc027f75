//! Services that every recorded run uses.

use std::sync::Arc;

use registry::{Clock, Recordings, Store};

use super::call_policy::CallPolicy;
use super::cancellation::CancellableRuns;
use super::compiled_rules::CompiledRules;
use super::record_retries::RecordRetries;
use crate::calls::schema::SchemaMatcher;
use crate::sandbox::egress::Egress;
use crate::sandbox::executor::Executor;

#[derive(Clone)]
pub(super) struct Services {
    pub store: Store,
    pub recordings: Recordings,
    pub clock: Clock,
    /// The URL of the server, before the paths of links to it.
    pub base_url: Arc<str>,
    pub executor: Executor,
    pub schemas: SchemaMatcher,
    pub egress: Egress,
    pub retries: RecordRetries,
    pub cancellable: CancellableRuns,
    pub policy: Option<Arc<dyn CallPolicy>>,
    pub compiled_rules: CompiledRules,
}
