//! Opens the sessions of runs.

use std::sync::Arc;

use registry::{Clock, HostPattern};

use super::budget::Budgets;
use super::connect::{self, Connector};
use super::session::EgressSession;
use super::shared::{EgressRules, EgressShared};
use super::tls;
use crate::config::{EgressBudget, EgressConfig};
use crate::error::Error;

/// Outbound HTTP of one process.
#[derive(Clone)]
pub struct Egress(Arc<EgressShared>);

impl Egress {
    /// # Errors
    /// When the TLS settings are refused.
    pub fn new(config: EgressConfig, clock: Clock) -> Result<Self, Error> {
        let EgressConfig { hosts, networks, budget } = config;
        // Without hosts there are no connections to verify.
        let authorities = if hosts.is_empty() { Vec::new() } else { tls::load_system_authorities() };
        let connector =
            Connector { networks, tls: tls::build_client(authorities)?, resolve: connect::build_system_resolver() };
        let budgets = Budgets::new(budget, clock.clone());
        Ok(Self(Arc::new(EgressShared { hosts, connector, budgets, clock })))
    }

    /// Outbound HTTP that resolves no name, whatever the operator permits. Only mocks answer requests.
    ///
    /// # Errors
    /// When the TLS settings are refused.
    pub fn sealed(clock: Clock) -> Result<Self, Error> {
        let any = HostPattern::parse("*").map_err(|error| Error::internal(error.to_string()))?;
        let resolve = connect::build_refusing_resolver();
        let connector = Connector { networks: Vec::new(), tls: tls::build_client(Vec::new())?, resolve };
        let budgets = Budgets::new(EgressBudget::DEFAULT, clock.clone());
        Ok(Self(Arc::new(EgressShared { hosts: vec![any], connector, budgets, clock })))
    }

    /// The state that documents of the server share with the runs.
    pub(super) fn shared(&self) -> Arc<EgressShared> {
        self.0.clone()
    }

    /// Opens the session of one run.
    #[must_use]
    pub fn open_session(&self, rules: EgressRules) -> EgressSession {
        EgressSession::new(self.0.clone(), rules)
    }
}
