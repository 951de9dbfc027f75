//! The only way out: a run's requests are admitted, made and counted here, on
//! the side of the server that no guest shares.
//!
//! A request goes to a host that the version declares and the operator
//! permits, at an address that was checked, and takes as much as the run and
//! its organisation have left. Redirects are answers; nothing is followed.

mod address;
mod answers;
mod blocked_ports;
mod budget;
mod connect;
mod exchange;
mod gate;
mod head;
mod mocks;
mod secrets;
mod simulation;
mod standins;
mod target;
mod tls;
mod traffic;
mod trip;

pub(crate) use answers::{Heard, Recall};
pub use budget::EgressBudget;
pub use gate::{Gate, Pass};
pub use mocks::{MOCKS_MAX, Mock, Mocks};
pub use secrets::{HostSecret, Secrets};
pub use simulation::Simulation;
pub use standins::Standins;

use std::sync::Arc;

use ipnet::IpNet;
use registry::{Clock, HostPattern};

use crate::Error;
use budget::Budgets;
use connect::Connector;

/// The operator's word on where tools may send requests.
#[derive(Debug, Clone, Default)]
pub struct EgressConfig {
    /// Hosts that versions may declare; none switches outbound HTTP off.
    pub hosts: Vec<HostPattern>,
    /// Networks that may be reached besides the public Internet.
    pub networks: Vec<IpNet>,
    pub budget: EgressBudget,
}

impl Default for EgressBudget {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The way out of one process.
#[derive(Clone)]
pub struct Egress(Arc<Inner>);

struct Inner {
    hosts: Vec<HostPattern>,
    connector: Connector,
    budgets: Budgets,
    clock: Clock,
}

impl Egress {
    /// # Errors
    /// When the cryptography does not start.
    pub fn new(config: EgressConfig, clock: Clock) -> Result<Self, Error> {
        let EgressConfig { hosts, networks, budget } = config;
        // Whoever reaches nothing needs nobody's word for who is who.
        let authorities = if hosts.is_empty() { Vec::new() } else { tls::system_authorities() };
        let connector = Connector { networks, tls: tls::client(authorities)?, resolve: connect::system_resolver() };
        let budgets = Budgets::new(budget, clock.clone());
        Ok(Self(Arc::new(Inner { hosts, connector, budgets, clock })))
    }

    /// A way to nowhere, whatever an operator permits: runs get what stands in for the world.
    ///
    /// # Errors
    /// When the cryptography does not start.
    pub(crate) fn sealed(clock: Clock) -> Result<Self, Error> {
        let any = HostPattern::parse("*").map_err(|error| Error::internal(error.to_string()))?;
        let connector = Connector { networks: Vec::new(), tls: tls::client(Vec::new())?, resolve: connect::nowhere() };
        let budgets = Budgets::new(EgressBudget::DEFAULT, clock.clone());
        Ok(Self(Arc::new(Inner { hosts: vec![any], connector, budgets, clock })))
    }

    /// The gate of one run.
    #[must_use]
    pub fn gate(&self, pass: Pass) -> Gate {
        Gate::new(self.0.clone(), pass)
    }
}
