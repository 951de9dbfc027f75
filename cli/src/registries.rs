//! The package registries that builds use: those of this machine's pip, uv, npm and cargo, which default to the public ones.

mod crates;
mod host;
mod npm;
mod python;
mod registry;

use builder::RegistryUrls;
use clap::ValueEnum;
use serde::Deserialize;

use host::Host;
pub use registry::Registry;

/// The registries that builds use where no setting names one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum DefaultRegistries {
    /// Those that pip, uv, npm and cargo are configured for on this machine, or the public ones
    #[default]
    Host,
    /// None: packages of a registry that no setting names are refused
    None,
}

/// The registry of each language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registries {
    pub python: Option<Registry>,
    pub npm: Option<Registry>,
    pub crates: Option<Registry>,
}

impl Registries {
    /// The default registries of this machine.
    pub fn find_defaults(kind: DefaultRegistries) -> Self {
        match kind {
            DefaultRegistries::Host => Self::of(&Host::this()),
            DefaultRegistries::None => Self::default(),
        }
    }

    fn of(host: &Host) -> Self {
        Self {
            python: Some(python::find_index(host)),
            npm: Some(npm::find_registry(host)),
            crates: Some(crates::find_index(host)),
        }
    }

    /// These registries, and those of `other` where there are none.
    #[must_use]
    pub fn fill_from(self, other: Self) -> Self {
        Self { python: self.python.or(other.python), npm: self.npm.or(other.npm), crates: self.crates.or(other.crates) }
    }

    /// The URLs, as the builder's settings have them.
    pub fn urls(self) -> RegistryUrls {
        let url = |registry: Option<Registry>| registry.map(|registry| registry.url);
        RegistryUrls { python_index: url(self.python), npm_registry: url(self.npm), crate_index: url(self.crates) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], variables: &[(&str, &str)], expected: [(&str, &str); 3]) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let file = root.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let found = Registries::of(&Host::for_tests(root.path(), variables));
        for (registry, (url, source)) in [found.python, found.npm, found.crates].into_iter().zip(expected) {
            let registry = registry.unwrap();
            let shown = registry.source.replace(root.path().to_str().unwrap(), "");
            assert_eq!((registry.url.as_str(), shown.as_str()), (url, source));
        }
    }

    const PYPI: (&str, &str) = (python::PUBLIC, "public default");
    const NPM: (&str, &str) = (npm::PUBLIC, "public default");
    const CRATES: (&str, &str) = (crates::PUBLIC, "public default");

    #[test]
    fn a_machine_without_configuration_uses_the_public_registries() {
        check(&[], &[], [PYPI, NPM, CRATES]);
        let damaged = [("etc/pip.conf", "[global\nindex-url"), ("user/.cargo/config.toml", "source = 1\n[")];
        check(&damaged, &[], [PYPI, NPM, CRATES]);
    }

    #[test]
    fn files_of_the_package_managers_are_read() {
        let files = [
            (
                "etc/pip.conf",
                "[global]\nindex-url = https://other.example\n[install]\nindex-url = https://pip.example/simple\n",
            ),
            ("user/.npmrc", "//npm.example/:_authToken=x\nregistry = \"https://npm.example/\"\n"),
            (
                "user/.cargo/config.toml",
                "[source.crates-io]\nreplace-with = \"mine\"\n[source.mine]\nregistry = \"sparse+https://crates.example/\"\n",
            ),
        ];
        let expected = [
            ("https://pip.example/simple", "/etc/pip.conf"),
            ("https://npm.example/", "/user/.npmrc"),
            ("sparse+https://crates.example/", "/user/.cargo/config.toml"),
        ];
        check(&files, &[], expected);
        let uv = [("user/.config/uv/uv.toml", "[[index]]\nurl = \"https://uv.example/simple\"\ndefault = true\n")];
        check(&uv, &[], [("https://uv.example/simple", "/user/.config/uv/uv.toml"), NPM, CRATES]);
        let own = [("user/.config/pip/pip.conf", "[global]\nindex-url: https://own.example\n"), files[0]];
        check(&own, &[], [("https://own.example", "/user/.config/pip/pip.conf"), NPM, CRATES]);
    }

    #[test]
    fn variables_take_precedence_over_files() {
        let files = [
            ("etc/pip.conf", "[global]\nindex-url = https://pip.example/simple\n"),
            ("user/.npmrc", "registry=https://npm.example\n"),
        ];
        let variables = [
            ("PIP_INDEX_URL", "https://one.example"),
            ("npm_config_registry", "https://two.example"),
            ("CARGO_SOURCE_CRATES_IO_REPLACE_WITH", "my-own"),
            ("CARGO_SOURCE_MY_OWN_REGISTRY", "sparse+https://three.example/"),
        ];
        let expected = [
            ("https://one.example", "PIP_INDEX_URL"),
            ("https://two.example", "npm_config_registry"),
            ("sparse+https://three.example/", "CARGO_SOURCE_MY_OWN_REGISTRY"),
        ];
        check(&files, &variables, expected);
    }

    /// Cargo's git indices and vendored directories are no sparse indices.
    #[test]
    fn sources_that_are_no_sparse_index_are_not_taken() {
        let file = "[source.crates-io]\nreplace-with = \"x\"\n[source.x]\nregistry = \"https://git.example/index\"\n";
        check(&[("user/.cargo/config.toml", file)], &[], [PYPI, NPM, CRATES]);
    }
}
