//! Services that every recorded run uses.

use registry::{Clock, Recordings, Store};

use super::cancellation::CancellableRuns;
use super::record_retries::RecordRetries;
use crate::egress::Egress;
use crate::executor::Executor;
use crate::schema::SchemaMatcher;

#[derive(Clone)]
pub(super) struct Services {
    pub store: Store,
    pub recordings: Recordings,
    pub clock: Clock,
    pub executor: Executor,
    pub schemas: SchemaMatcher,
    pub egress: Egress,
    pub retries: RecordRetries,
    pub cancellable: CancellableRuns,
}
