//! The proxies that a server trusts to name their clients.

use clap::Args;
use ipnet::IpNet;
use serde::Deserialize;

use crate::failure::Failure;

#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default)]
pub struct ProxySettings {
    /// Networks of proxies whose X-Forwarded-For or Forwarded names the client, such as 10.1.0.0/16 [default: none]
    ///
    /// Those of your [proxies](../how-to/run-behind-a-proxy.md#addresses-of-clients): only they may name a client, and their
    /// connections have no bound per address.
    #[arg(long, env = "LATHE_TRUSTED_PROXIES", value_name = "CIDR,…", value_delimiter = ',')]
    pub trusted_proxies: Option<Vec<String>>,
}

impl ProxySettings {
    /// Reads networks or single addresses.
    pub fn read(&self) -> anyhow::Result<Vec<IpNet>> {
        let texts = self.trusted_proxies.iter().flatten();
        texts.map(|text| text.trim()).filter(|text| !text.is_empty()).map(read_network).collect()
    }
}

fn read_network(text: &str) -> anyhow::Result<IpNet> {
    let network = text.parse().ok().or_else(|| text.parse().ok().map(|address: std::net::IpAddr| IpNet::from(address)));
    let Some(network): Option<IpNet> = network else {
        return Err(Failure::usage(
            format!("trusted proxies: {text:?} is neither a network nor an address"),
            "give networks such as 10.1.0.0/16, separated by commas",
        ));
    };
    if network.prefix_len() == 0 {
        return Err(Failure::usage(
            format!("trusted proxies: {text} is every address, so that each client could claim to be another one"),
            "give the addresses of your proxies alone",
        ));
    }
    Ok(network.trunc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_and_addresses_are_read() {
        let read = |text: &str| ProxySettings { trusted_proxies: Some(vec![text.to_owned()]) }.read();
        for (text, shown) in [
            ("10.1.0.0/16", "10.1.0.0/16"),
            (" 10.1.2.3/16", "10.1.0.0/16"),
            ("10.1.2.3", "10.1.2.3/32"),
            ("2001:db8::1", "2001:db8::1/128"),
        ] {
            assert_eq!(read(text).expect(text)[0].to_string(), shown);
        }
        assert!(read("").expect("none").is_empty());
        for (text, words) in
            [("proxy", "neither a network"), ("10.1.0.0/33", "neither"), ("0.0.0.0/0", "every address")]
        {
            assert!(read(text).unwrap_err().to_string().contains(words), "{text}");
        }
    }
}
