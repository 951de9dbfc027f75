//! Versions of git.

use std::fmt;

/// The oldest supported version, which Debian 12 ships. It has the quarantine of pushed objects, `GIT_CONFIG_COUNT` and the
/// ownership checks.
pub const GIT_VERSION_MIN: GitVersion = GitVersion { major: 2, minor: 39 };

/// The first two numbers of git's version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitVersion {
    pub major: u32,
    pub minor: u32,
}

impl GitVersion {
    /// Parses `git version 2.47.3` and the longer forms of vendors.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let number = text.trim().strip_prefix("git version ")?.split_whitespace().next()?;
        let mut parts = number.split('.');
        Some(Self { major: parts.next()?.parse().ok()?, minor: parts.next()?.parse().ok()? })
    }
}

impl fmt::Display for GitVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_several_vendors_are_read() {
        let check = |text: &str, expect: Option<(u32, u32)>| {
            let found = GitVersion::parse(text).map(|version| (version.major, version.minor));
            assert_eq!(found, expect, "{text}");
        };
        check("git version 2.47.3\n", Some((2, 47)));
        check("git version 2.39.5 (Apple Git-154)\n", Some((2, 39)));
        check("git version 3.0.rc1", Some((3, 0)));
        check("hub version 2.1", None);
        check("git version two", None);
    }
}
