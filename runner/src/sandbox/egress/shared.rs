//! State that all sessions share, and the rules of one session.

use registry::{Clock, HostPattern, OrganizationId};

use super::budget::Budgets;
use super::connect::Connector;
use super::policy::EgressPolicy;
use super::simulation::Simulation;
use crate::depth::Depth;
use crate::limits::Limits;

/// State that the sessions of one process share.
pub struct EgressShared {
    /// Hosts that the operator permits.
    pub hosts: Vec<HostPattern>,
    pub connector: Connector,
    pub budgets: Budgets,
    pub clock: Clock,
}

/// The rules for the requests of one run.
pub struct EgressRules {
    pub organization: OrganizationId,
    pub policy: EgressPolicy,
    pub limits: Limits,
    pub depth: Depth,
    /// Answers requests that would change something; `None` for a regular run.
    pub simulation: Option<Simulation>,
    /// Whether responses are recorded for later simulations.
    pub records_responses: bool,
}
