//! Outbound HTTP of tools: flags, and the table `[egress]` of the settings file.

use clap::Args;
use registry::HostPattern;
use runner::{EgressBudget, EgressConfig};
use serde::Deserialize;

use crate::failure::Failure;

/// The word for an empty list.
const NONE: &str = "none";
const EVERY_HOST: &str = "*";

#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EgressSettings {
    /// Hosts that tools may send requests to, if their versions declare them: api.example.com, *.example.com,
    /// example.com:8443, * for all, or none [default: *]
    ///
    /// See [outbound HTTP](outbound-http.md).
    #[arg(long = "egress-hosts", env = "LATHE_EGRESS_HOSTS", value_name = "HOST,…", value_delimiter = ',')]
    pub hosts: Option<Vec<String>>,
    /// Networks that such hosts may be in besides the public Internet, such as 10.1.0.0/16 [default: none]
    #[arg(long = "egress-networks", env = "LATHE_EGRESS_NETWORKS", value_name = "CIDR,…", value_delimiter = ',')]
    pub networks: Option<Vec<String>>,
    /// Outbound requests per minute and organisation [default: 1200]
    #[arg(long = "egress-requests-per-minute", env = "LATHE_EGRESS_REQUESTS_PER_MINUTE", value_name = "COUNT")]
    pub requests_per_minute: Option<u32>,
    /// Bodies of outbound requests and their responses per minute and organisation, in MiB [default: 512]
    #[arg(long = "egress-megabytes-per-minute", env = "LATHE_EGRESS_MEGABYTES_PER_MINUTE", value_name = "MIB")]
    pub megabytes_per_minute: Option<u32>,
}

impl EgressSettings {
    pub fn read(&self) -> anyhow::Result<EgressConfig> {
        let hosts = self.hosts.clone().unwrap_or_else(|| vec![EVERY_HOST.to_owned()]);
        let hosts = parse_unless_none("egress hosts", hosts)?;
        let networks = parse_unless_none("egress networks", self.networks.clone().unwrap_or_default())?;
        let default = EgressBudget::DEFAULT;
        Ok(EgressConfig {
            hosts: hosts.iter().map(|host| read_host(host)).collect::<Result<_, _>>()?,
            networks: networks.iter().map(|network| read_network(network)).collect::<Result<_, _>>()?,
            budget: EgressBudget {
                requests_per_minute: self.requests_per_minute.unwrap_or(default.requests_per_minute),
                bytes_per_minute: self
                    .megabytes_per_minute
                    .map_or(default.bytes_per_minute, |megabytes| u64::from(megabytes) << 20),
                ..default
            },
        })
    }
}

/// Returns an empty list for `none`, which must be the only value.
fn parse_unless_none(what: &str, values: Vec<String>) -> anyhow::Result<Vec<String>> {
    let is_none = |value: &String| value.trim().eq_ignore_ascii_case(NONE);
    match values.as_slice() {
        [one] if is_none(one) => Ok(Vec::new()),
        many if many.iter().any(is_none) => Err(Failure::usage(
            format!("{what}: `none` is given together with other values"),
            "give `none` alone, or leave it out",
        )),
        _ => Ok(values),
    }
}

fn read_host(text: &str) -> anyhow::Result<HostPattern> {
    HostPattern::parse(text).map_err(|error| {
        Failure::usage(
            format!("egress hosts: {text:?} {}", error.reason),
            "`*` permits all hosts, `none` permits no host",
        )
    })
}

fn read_network(text: &str) -> anyhow::Result<ipnet::IpNet> {
    text.parse().map_err(|_| {
        let message = format!("egress networks: {text:?} must be a network such as 10.1.0.0/16 or fd00::/8");
        Failure::usage(message, "a single address is a network too: 10.1.2.3/32")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_hosts(texts: &[&str]) -> anyhow::Result<EgressConfig> {
        let hosts = Some(texts.iter().map(|text| (*text).to_owned()).collect());
        EgressSettings { hosts, ..EgressSettings::default() }.read()
    }

    #[test]
    fn every_public_host_is_permitted_by_default() {
        assert!(EgressSettings::default().read().expect("defaults").hosts[0].is_any());
        assert!(EgressSettings::default().read().expect("defaults").networks.is_empty());
        assert!(parse_hosts(&["none"]).expect("none").hosts.is_empty());
        assert!(parse_hosts(&["None"]).expect("none").hosts.is_empty());
        assert!(parse_hosts(&["none", "api.example.com"]).is_err());
        assert_eq!(parse_hosts(&["a.example.com", "*.example.com:81"]).expect("two").hosts.len(), 2);
    }

    #[test]
    fn a_malformed_host_or_network_is_named() {
        assert!(parse_hosts(&["https://x"]).expect_err("a URL").to_string().contains("\"https://x\""));
        let networks = Some(vec!["10.0.0.1".to_owned()]);
        let error = EgressSettings { networks, ..EgressSettings::default() }.read().expect_err("an address");
        assert!(error.to_string().contains("10.0.0.1"), "{error}");
    }
}
