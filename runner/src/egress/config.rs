//! The operator's settings for outbound HTTP.

use ipnet::IpNet;
use registry::HostPattern;

use super::budget::EgressBudget;

/// Hosts and networks to which tools may send requests.
#[derive(Debug, Clone, Default)]
pub struct EgressConfig {
    /// Hosts that versions may declare. An empty list switches outbound HTTP off.
    pub hosts: Vec<HostPattern>,
    /// Networks that may be reached besides the public Internet.
    pub networks: Vec<IpNet>,
    pub budget: EgressBudget,
}
