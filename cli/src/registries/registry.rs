//! A package registry and where it is configured.

/// A registry and the place of its configuration, such as `PIP_INDEX_URL` or `/etc/pip.conf`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registry {
    pub url: String,
    pub source: String,
}

impl Registry {
    pub fn new(url: impl Into<String>, source: impl Into<String>) -> Self {
        Self { url: url.into(), source: source.into() }
    }

    /// A public registry, which no configuration names.
    pub fn public(url: &str) -> Self {
        Self::new(url, "public default")
    }

    /// A registry that a setting of Lathe names.
    pub fn set(url: Option<String>, setting: &str) -> Option<Self> {
        url.map(|url| Self::new(url, setting))
    }
}
