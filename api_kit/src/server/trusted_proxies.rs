//! The addresses of clients behind the operator's proxies.
//!
//! `X-Forwarded-For` and `Forwarded` (RFC 7239) are read only in requests of proxies that the operator names, since every
//! client can send them. Each proxy appends the address that it has the request from. So the client is the last address in
//! the list that is no trusted proxy.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName};
use ipnet::IpNet;

const LIST: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED: HeaderName = HeaderName::from_static("forwarded");

/// The networks of the operator's proxies. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(Arc<[IpNet]>);

impl From<Vec<IpNet>> for TrustedProxies {
    fn from(networks: Vec<IpNet>) -> Self {
        Self(networks.into())
    }
}

impl TrustedProxies {
    /// Whether an address is one of a trusted proxy.
    pub(super) fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// Returns the address of the client of a request that came from `peer`.
    pub(super) fn find_client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.contains(peer) {
            return peer;
        }
        let listed =
            read_elements(headers, &LIST).map(|mut found| self.find_last_untrusted(peer, &mut found, parse_address));
        let forwarded = read_elements(headers, &FORWARDED)
            .map(|mut found| self.find_last_untrusted(peer, &mut found, parse_forwarded));
        match (listed, forwarded) {
            // A proxy sets one of them and passes on the other, which the client may have made up.
            (Some(listed), Some(forwarded)) if listed != forwarded => peer,
            (Some(client), _) | (None, Some(client)) => client,
            (None, None) => peer,
        }
    }

    /// Returns the last address that is no trusted proxy, or the first one of all if every address is one. The list ends at
    /// an element that is no address.
    fn find_last_untrusted(&self, peer: IpAddr, elements: &mut Vec<&str>, read: fn(&str) -> Option<IpAddr>) -> IpAddr {
        let mut client = peer;
        while let Some(found) = elements.pop().and_then(read) {
            client = found;
            if !self.contains(client) {
                break;
            }
        }
        client
    }
}

/// The elements of all headers with this name, in their order; `None` without one.
fn read_elements<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Vec<&'a str>> {
    let values = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default());
    let elements: Vec<_> = values.flat_map(|value| value.split(',')).collect();
    (!elements.is_empty()).then_some(elements)
}

/// Reads an address, which may have a port.
fn parse_address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let parsed = bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()));
    parsed.map(|address: IpAddr| address.to_canonical())
}

/// Reads the parameter `for` of an element of `Forwarded`.
fn parse_forwarded(element: &str) -> Option<IpAddr> {
    element.split(';').find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        if !name.trim().eq_ignore_ascii_case("for") {
            return None;
        }
        parse_address(value.trim().trim_matches('"'))
    })
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    const PROXY: &str = "10.0.0.1";

    fn client(peer: &str, headers: &[(&HeaderName, &str)]) -> String {
        let networks = ["10.0.0.0/24", "2001:db8::/64"].map(|network| network.parse().unwrap());
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_str(value).unwrap());
        }
        TrustedProxies::from(networks.to_vec()).find_client(peer.parse().unwrap(), &map).to_string()
    }

    #[test]
    fn the_client_is_the_last_address_that_is_no_proxy() {
        for (list, expected) in [
            ("192.0.2.7", "192.0.2.7"),
            ("198.51.100.1, 192.0.2.7", "192.0.2.7"),
            ("198.51.100.1,192.0.2.7 , 10.0.0.2", "192.0.2.7"),
            ("10.0.0.3, 10.0.0.2", "10.0.0.3"),
            ("192.0.2.7:4711", "192.0.2.7"),
            ("[2001:db8:1::7]:4711", "2001:db8:1::7"),
            ("2001:db8:1::7, 2001:db8::9", "2001:db8:1::7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("192.0.2.7, unknown, 10.0.0.2", "10.0.0.2"),
            ("192.0.2.7, unknown", PROXY),
            ("", PROXY),
        ] {
            assert_eq!(client(PROXY, &[(&LIST, list)]), expected, "{list}");
        }
        assert_eq!(client(PROXY, &[(&LIST, "198.51.100.1"), (&LIST, "192.0.2.7")]), "192.0.2.7");
        assert_eq!(client(&format!("::ffff:{PROXY}"), &[(&LIST, "192.0.2.7")]), "192.0.2.7");
        assert_eq!(client(PROXY, &[]), PROXY);
    }

    #[test]
    fn the_standard_header_is_read_too() {
        for (value, expected) in [
            ("for=192.0.2.7;proto=https;by=10.0.0.1", "192.0.2.7"),
            ("for=198.51.100.1, For=\"[2001:db8:1::7]:4711\"", "2001:db8:1::7"),
            ("for=192.0.2.7, for=_hidden", PROXY),
            ("proto=https", PROXY),
        ] {
            assert_eq!(client(PROXY, &[(&FORWARDED, value)]), expected, "{value}");
        }
    }

    #[test]
    fn what_a_client_may_have_made_up_is_not_believed() {
        assert_eq!(client("192.0.2.9", &[(&LIST, "198.51.100.1")]), "192.0.2.9", "no proxy");
        for made_up in [&LIST, &FORWARDED] {
            let [list, forwarded] = [&LIST, &FORWARDED].map(|name| {
                let address = if name == made_up { "198.51.100.1" } else { "192.0.2.7" };
                if *name == LIST { address.to_owned() } else { format!("for={address}") }
            });
            assert_eq!(client(PROXY, &[(&LIST, &list), (&FORWARDED, &forwarded)]), PROXY);
        }
        assert_eq!(client(PROXY, &[(&LIST, "192.0.2.7"), (&FORWARDED, "for=192.0.2.7")]), "192.0.2.7");
    }
}
