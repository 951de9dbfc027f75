//! Patterns of hosts that a version declares and an operator permits: `api.example.com`, `*.example.com`, each with or
//! without a port.

use std::fmt;

use crate::kit::invalid_value::InvalidValue;

const WHAT: &str = "host";
const RULE: &str =
    "must be a host such as `api.example.com`, `*.example.com` or `api.example.com:8443`, without scheme and path";
/// Longest name in DNS.
const NAME_BYTES_MAX: usize = 253;

/// A host or a domain with its subdomains. Names are normalised as in URLs: lower case, internationalised names in Punycode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern {
    name: Name,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Name {
    Any,
    Exact(String),
    /// The domain with a leading dot.
    Suffix(String),
}

impl HostPattern {
    /// Parses a pattern. `*` alone matches every host.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let refused = || InvalidValue::new(WHAT, RULE);
        let (name, port) = split_port(text).ok_or_else(refused)?;
        let name = match name.strip_prefix('*') {
            Some("") => Name::Any,
            Some(suffix) => {
                let parent = suffix.strip_prefix('.').and_then(normalise).ok_or_else(refused)?;
                // Refuses top-level domains, which have no single owner, and addresses, which have no subdomains.
                let is_domain = parent.contains('.') && parent.parse::<std::net::Ipv4Addr>().is_err();
                Name::Suffix(is_domain.then(|| format!(".{parent}")).ok_or_else(refused)?)
            }
            None => Name::Exact(normalise(name).ok_or_else(refused)?),
        };
        Ok(Self { name, port })
    }

    /// Whether the pattern matches every host.
    pub const fn is_any(&self) -> bool {
        matches!(self.name, Name::Any)
    }

    pub const fn port(&self) -> Option<u16> {
        self.port
    }

    /// Whether the pattern matches a host in URL form. The caller compares the port.
    pub fn names(&self, host: &str) -> bool {
        match &self.name {
            Name::Any => true,
            Name::Exact(name) => name == host,
            Name::Suffix(suffix) => host.len() > suffix.len() && host.ends_with(suffix.as_str()),
        }
    }
}

impl HostPattern {
    /// Whether the pattern matches every host that `other` matches.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let names = match (&self.name, &other.name) {
            (Name::Any, _) => true,
            (Name::Exact(_) | Name::Suffix(_), Name::Any) | (Name::Exact(_), Name::Suffix(_)) => false,
            (_, Name::Exact(name)) => self.names(name),
            (Name::Suffix(suffix), Name::Suffix(below)) => below.ends_with(suffix.as_str()),
        };
        names && self.port == other.port
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Name::Any => formatter.write_str("*")?,
            Name::Exact(name) => formatter.write_str(name)?,
            Name::Suffix(suffix) => write!(formatter, "*{suffix}")?,
        }
        self.port.map_or(Ok(()), |port| write!(formatter, ":{port}"))
    }
}

/// Splits off the port. The colons of an IPv6 address are in brackets.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let bracket = text.rfind(']').map_or(0, |at| at + 1);
    match text[bracket..].split_once(':') {
        None => Some((text, None)),
        Some((between, port)) => {
            let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
            let port = port.parse().ok().filter(|port| is_number && *port != 0)?;
            Some((&text[..bracket + between.len()], Some(port)))
        }
    }
}

fn normalise(name: &str) -> Option<String> {
    let name = url::Host::parse(name).ok()?.to_string();
    let fits = !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.ends_with('.') && !name.contains('*');
    fits.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(text: &str, expected: &str) {
        assert_eq!(HostPattern::parse(text).expect(text).to_string(), expected);
    }

    #[test]
    fn hosts_are_normalised_as_in_urls() {
        reads("API.Example.com", "api.example.com");
        reads("*.example.com:8443", "*.example.com:8443");
        reads("bücher.example", "xn--bcher-kva.example");
        reads("0x7f.1", "127.0.0.1");
        reads("[::1]:80", "[::1]:80");
        reads("[0:0::1]", "[::1]");
        reads("localhost", "localhost");
        reads("*", "*");
    }

    #[test]
    fn invalid_hosts_are_refused() {
        for text in [
            "",
            " ",
            "https://example.com",
            "example.com/",
            "user@example.com",
            "example.com:0",
            "example.com:65536",
            "example.com:+80",
            "example.com:",
            "a b",
            "*.com",
            "*.",
            "*x.example.com",
            "x.*.example.com",
            "::1",
            "*.127.0.0.1",
            "example.com.",
            "[::1]x:80",
            "[::1",
        ] {
            assert!(HostPattern::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_suffix_matches_subdomains() {
        let pattern = HostPattern::parse("*.example.com").expect("a pattern");
        assert!(pattern.names("a.example.com") && pattern.names("b.a.example.com"));
        assert!(!pattern.names("example.com") && !pattern.names("badexample.com") && !pattern.names(".example.com"));
        assert!(!pattern.names("a.example.com.evil.net"));
    }

    #[test]
    fn a_pattern_covers_narrower_patterns() {
        let covers = |one: &str, other: &str| {
            HostPattern::parse(one).expect(one).covers(&HostPattern::parse(other).expect(other))
        };
        for (one, other) in [
            ("a.example.com", "A.example.com"),
            ("*.example.com", "a.example.com"),
            ("*.example.com", "*.example.com"),
            ("*.example.com", "*.a.example.com"),
            ("*:8443", "*.example.com:8443"),
            ("*", "*"),
        ] {
            assert!(covers(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("a.example.com", "b.example.com"),
            ("a.example.com", "*.a.example.com"),
            ("*.example.com", "example.com"),
            ("*.example.com", "*.badexample.com"),
            ("*.a.example.com", "*.example.com"),
            ("*.example.com", "a.example.com:8443"),
            ("*.example.com", "*"),
        ] {
            assert!(!covers(one, other), "{one} {other}");
        }
    }
}
