//! Packages that are part of a tool.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest as _, Sha256, Sha512};

/// Characters that are percent-encoded in a package URL.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'_').remove(b'~');

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// The type in the package URL: `pypi`, `npm`, `cargo` or `generic`.
    pub kind: &'static str,
    pub name: String,
    pub version: String,
    /// The hash of the downloaded file, from the lock file.
    pub hash: Option<Hash>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hash {
    pub algorithm: &'static str,
    pub hex: String,
}

impl Hash {
    #[must_use]
    pub fn sha256(hex: String) -> Self {
        Self { algorithm: "sha256", hex }
    }

    #[must_use]
    pub fn sha512(hex: String) -> Self {
        Self { algorithm: "sha512", hex }
    }

    /// Whether this is the hash of the bytes.
    pub(crate) fn is_of(&self, bytes: &[u8]) -> bool {
        let hash =
            if self.algorithm == "sha512" { Sha512::digest(bytes).to_vec() } else { Sha256::digest(bytes).to_vec() };
        hex::encode(hash) == self.hex
    }
}

impl Package {
    /// The package URL, as the package-url specification defines it.
    #[must_use]
    pub fn url(&self) -> String {
        let escaped = |text: &str| utf8_percent_encode(text, ESCAPED).to_string();
        let name: Vec<_> = self.name.split('/').map(escaped).collect();
        format!("pkg:{}/{}@{}", self.kind, name.join("/"), escaped(&self.version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_url_is_escaped_part_by_part() {
        let package = |kind, name: &str, version: &str| {
            Package { kind, name: name.into(), version: version.into(), hash: None }.url()
        };
        assert_eq!(package("pypi", "python-dateutil", "2.9.0.post0"), "pkg:pypi/python-dateutil@2.9.0.post0");
        assert_eq!(package("npm", "@scope/name", "1.0.0"), "pkg:npm/%40scope/name@1.0.0");
        assert_eq!(package("cargo", "serde", "1.0.228+build"), "pkg:cargo/serde@1.0.228%2Bbuild");
    }
}
