//! The address of a client: that at the other end of its connection, or the one that a trusted proxy names.

use std::net::{IpAddr, Ipv6Addr};

use axum::http::Extensions;

/// IPv6 addresses of one network of this many bits are one client.
const IPV6_NETWORK_BITS: u32 = 64;

/// An extension of each request.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub IpAddr);

impl Peer {
    /// The address of a request's client.
    pub fn of(extensions: &Extensions) -> Option<IpAddr> {
        extensions.get::<Self>().map(|Self(address)| *address)
    }

    /// The part of the address that stands for one client.
    pub(super) fn client(self) -> IpAddr {
        find_client(self.0)
    }
}

/// The part of an address that stands for one client, in everything that is counted by address.
pub fn find_client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let bits = address.to_bits() >> IPV6_NETWORK_BITS << IPV6_NETWORK_BITS;
            IpAddr::V6(Ipv6Addr::from_bits(bits))
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_has_one_ipv4_address_or_one_ipv6_network() {
        let client = |address: &str| Peer(address.parse().unwrap()).client();
        assert_eq!(client("::ffff:10.0.0.1"), client("10.0.0.1"));
        assert_eq!(client("2001:db8::2"), client("2001:db8::1"));
        assert_ne!(client("2001:db8:0:1::1"), client("2001:db8::1"));
    }
}
