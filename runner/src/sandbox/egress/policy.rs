//! The hosts that a version's runs may reach, and the secrets that stay with the host.

use registry::{EnvvarName, HostPattern, SecretValue, Variables, VersionSettings};

use super::secrets::{HostSecret, Secrets};
use super::unfit_variables::UnfitVariables;

/// The egress settings of a version, with the values of its host secrets.
#[derive(Clone, Default)]
pub struct EgressPolicy {
    /// The version's `allowed_hosts`.
    pub allowed_hosts: Vec<HostPattern>,
    pub secrets: Secrets,
    /// Variables that errors about headers and URLs name.
    pub unfit: UnfitVariables,
}

impl EgressPolicy {
    /// Reads a version's settings, and moves the host secrets out of the tool's variables.
    pub fn take(settings: &VersionSettings, variables: &mut Variables) -> Self {
        let unfit = UnfitVariables::of(variables);
        let one = |(name, hosts): (&EnvvarName, &Vec<String>)| {
            let value = variables.secrets.remove(name)?;
            Some(HostSecret { name: name.to_string(), value, hosts: parse_patterns(hosts) })
        };
        let secrets = Secrets(settings.secret_hosts.iter().filter_map(one).collect());
        Self { allowed_hosts: parse_patterns(&settings.allowed_hosts), secrets, unfit }
    }

    pub fn secret_values(&self) -> impl Iterator<Item = &SecretValue> {
        self.secrets.0.iter().map(|secret| &secret.value)
    }

    pub fn secret_names(&self) -> Vec<String> {
        self.secrets.0.iter().map(|secret| secret.name.clone()).collect()
    }
}

/// Parses stored patterns. A pattern that this release does not accept matches no host.
fn parse_patterns(hosts: &[String]) -> Vec<HostPattern> {
    hosts.iter().filter_map(|host| HostPattern::parse(host).ok()).collect()
}
