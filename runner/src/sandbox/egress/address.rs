//! Addresses of the public Internet.
//!
//! The ranges are those of IANA's registries of special-purpose addresses for
//! IPv4 and IPv6 that are not "globally reachable", with multicast and
//! reserved addresses. IPv6 addresses that embed an IPv4 address are refused.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

const fn v4([a, b, c]: [u8; 3], length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, 0), length)
}

const fn v6([a, b, c]: [u16; 3], length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), length)
}

const SPECIAL_V4: [Ipv4Net; 17] = [
    v4([0, 0, 0], 8),                                         // this network
    v4([10, 0, 0], 8),                                        // private
    v4([100, 64, 0], 10),                                     // shared by providers
    v4([127, 0, 0], 8),                                       // loopback
    v4([169, 254, 0], 16),                                    // link-local, with the metadata services of clouds
    v4([172, 16, 0], 12),                                     // private
    v4([192, 0, 0], 24),                                      // protocol assignments
    v4([192, 0, 2], 24),                                      // documentation
    v4([192, 88, 99], 24),                                    // 6to4 relays
    v4([192, 168, 0], 16),                                    // private
    v4([198, 18, 0], 15),                                     // benchmarking
    v4([198, 51, 100], 24),                                   // documentation
    v4([203, 0, 113], 24),                                    // documentation
    v4([224, 0, 0], 4),                                       // multicast
    v4([240, 0, 0], 4),                                       // reserved, and broadcast
    v4([192, 31, 196], 24),                                   // AS112, which answers queries for private names
    Ipv4Net::new_assert(Ipv4Addr::new(168, 63, 129, 16), 32), // services of a cloud for its machines
];

/// Addresses that are assigned globally. All others are special.
const GLOBAL_V6: Ipv6Net = v6([0x2000, 0, 0], 3);

const SPECIAL_V6: [Ipv6Net; 5] = [
    v6([0x2001, 0, 0], 23),         // protocol assignments: Teredo, ORCHID, benchmarking
    v6([0x2001, 0xdb8, 0], 32),     // documentation
    v6([0x2002, 0, 0], 16),         // 6to4
    v6([0x3fff, 0, 0], 20),         // documentation
    v6([0x2620, 0x4f, 0x8000], 48), // AS112
];

/// Whether an address is on the public Internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|range| range.contains(&address)),
        IpAddr::V6(address) => {
            GLOBAL_V6.contains(&address)
                && !SPECIAL_V6.iter().any(|range| range.contains(&address))
                && !is_isatap(address)
        }
    }
}

/// Whether the interface identifier embeds an IPv4 address after `0:5efe` or `200:5efe`.
const fn is_isatap(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    matches!(parts[4], 0 | 0x200) && parts[5] == 0x5efe
}

/// Whether an address belongs to this machine. Its services may be private although the address is public.
pub fn is_own(address: IpAddr) -> bool {
    let Ok(interfaces) = nix::ifaddrs::getifaddrs() else { return true };
    let own = interfaces.filter_map(|interface| {
        let found = interface.address?;
        let v4 = found.as_sockaddr_in().map(|found| IpAddr::V4(found.ip()));
        v4.or_else(|| found.as_sockaddr_in6().map(|found| IpAddr::V6(found.ip())))
    });
    own.into_iter().any(|own| own == address.to_canonical())
}

/// Whether one of the operator's networks contains an address, in any notation.
pub fn is_within(networks: &[IpNet], address: IpAddr) -> bool {
    let address = address.to_canonical();
    networks.iter().any(|network| network.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(text: &str) -> bool {
        is_public(text.parse().expect(text))
    }

    #[test]
    fn special_addresses_are_not_public() {
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "168.63.129.16",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:8.8.8.8",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:a9fe:a9fe::1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2a00:1450::5efe:10.0.0.1",
            "2a00:1450::200:5efe:7f00:1",
        ] {
            assert!(!public(text), "{text}");
        }
    }

    #[test]
    fn the_internet_is_public() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.0.1",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450:4001::1",
            "2001:200::1",
            "2620:fe::fe",
        ] {
            assert!(public(text), "{text}");
        }
    }

    #[test]
    fn a_machine_knows_its_own_addresses() {
        assert!(is_own("127.0.0.1".parse().expect("an address")));
        assert!(is_own("::ffff:127.0.0.1".parse().expect("an address")));
        assert!(!is_own("192.0.2.1".parse().expect("an address")));
    }

    #[test]
    fn a_network_contains_addresses_in_any_notation() {
        let networks = ["127.0.0.0/8".parse().expect("a network")];
        assert!(is_within(&networks, "::ffff:127.0.0.1".parse().expect("an address")));
        assert!(!is_within(&networks, "128.0.0.1".parse().expect("an address")));
    }
}
