//! What a version's runs may reach, and which of its secrets stay with the host.

use registry::{HostPattern, SecretValue, Variables, VersionSettings};

use crate::{HostSecret, Secrets};

/// The way out of one call's runs.
pub(crate) struct Outlet {
    pub(crate) declared: Vec<HostPattern>,
    pub(crate) secrets: Secrets,
}

impl Outlet {
    /// Takes the secrets that the tool must not have out of its variables.
    pub(crate) fn take(settings: &VersionSettings, variables: &mut Variables) -> Self {
        let one = |(name, hosts): (&registry::EnvvarName, &Vec<String>)| {
            let value = variables.secrets.remove(name)?;
            Some(HostSecret { name: name.to_string(), value, hosts: patterns(hosts) })
        };
        let secrets = Secrets(settings.secret_hosts.iter().filter_map(one).collect());
        Self { declared: patterns(&settings.allowed_hosts), secrets }
    }

    pub(crate) fn secret_values(&self) -> impl Iterator<Item = &SecretValue> {
        self.secrets.0.iter().map(|secret| &secret.value)
    }

    pub(crate) fn secret_names(&self) -> Vec<String> {
        self.secrets.0.iter().map(|secret| secret.name.clone()).collect()
    }
}

/// What a row has and no rule reads any more names no host.
fn patterns(hosts: &[String]) -> Vec<HostPattern> {
    hosts.iter().filter_map(|host| HostPattern::parse(host).ok()).collect()
}
