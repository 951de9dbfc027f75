//! What the handlers share, assembled once at the start.

use std::sync::Arc;
use std::time::Duration;

use builder::Builder;
use builder::source::{GitServer, Repositories};
use registry::{Clock, OrganizationId, Store};
use runner::{Admission, Admitted, Bounds, Full, Invoker};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::config::Config;
use crate::error::Error;
use crate::rate::Usage;
use crate::readiness::Readiness;
use crate::request_id::RequestIds;
use crate::work::Carried;

/// Work at once that is to be answered later: as much as may wait for a run, since no connection bounds it.
const APART_MAX: usize = 256;

/// When such work may find a place again.
const APART_RETRY: Duration = Duration::from_secs(1);

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

/// Apart from the count of its clones, which every request changes a few times: what lies beside it would have to be fetched
/// again by the other cores.
#[repr(align(128))]
struct Shared {
    parts: Parts,
    tasks: TaskTracker,
    usage: Usage,
    apart: Admission,
    request_ids: RequestIds,
    readiness: Readiness,
}

impl App {
    pub fn new(parts: Parts) -> Self {
        let request_ids = RequestIds::new(&parts.clock);
        let apart = Admission::new("operations", Bounds::shared(APART_MAX, 0));
        let (tasks, usage, readiness) = (TaskTracker::new(), Usage::default(), Readiness::default());
        Self(Arc::new(Shared { parts, tasks, usage, apart, request_ids, readiness }))
    }

    /// Where parts of the server say whether they are ready.
    pub fn readiness(&self) -> &Readiness {
        &self.0.readiness
    }

    pub(crate) fn request_ids(&self) -> &RequestIds {
        &self.0.request_ids
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
        // In a box, because starting a task moves it a dozen times.
        Ok(self.0.tasks.spawn(Box::pin(work).in_current_span()))
    }

    /// The same for work that its request waits for: it is carried out there while the request is.
    pub(crate) fn carry<F>(&self, work: F) -> Result<Carried<F>, Error>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        if self.is_stopping() {
            return Err(Error::ShuttingDown);
        }
        Ok(Carried::new(work, self.0.tasks.token()))
    }

    /// A place for work that no connection waits for.
    pub(crate) fn place_apart(&self, organization: &OrganizationId) -> Result<Admitted, Error> {
        let retry_after = APART_RETRY;
        self.0.apart.admit(organization, 1).map_err(|full| match full {
            Full::Process => Error::Runner(runner::Error::Overloaded { retry_after }),
            Full::Organization => Error::Runner(runner::Error::TooManyRuns { retry_after }),
        })
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
