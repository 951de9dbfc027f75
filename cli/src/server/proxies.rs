//! The proxies that a server trusts to name their clients.

use ipnet::IpNet;

use crate::failure::Failure;

pub const TRUSTED_PROXIES_VARIABLE: &str = "LATHE_TRUSTED_PROXIES";

/// The networks in the environment.
pub fn of_environment() -> Option<Vec<String>> {
    let text = std::env::var(TRUSTED_PROXIES_VARIABLE).ok()?;
    Some(text.split(',').map(str::to_owned).collect())
}

/// Reads networks or single addresses.
pub fn read(texts: Option<Vec<String>>) -> anyhow::Result<Vec<IpNet>> {
    let texts = texts.unwrap_or_default();
    texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).map(read_network).collect()
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
        let read = |text: &str| read(Some(vec![text.to_owned()]));
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
