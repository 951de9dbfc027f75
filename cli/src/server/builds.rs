//! Settings of builds, which `lathe serve` and `lathe worker` share.

use std::path::PathBuf;

use builder::RegistryUrls;
use clap::{Args, ValueEnum};
use registry::Digest;
use serde::Deserialize;

use crate::programs;
use crate::registries::{DefaultRegistries, Registries, Registry};

/// The name of bubblewrap's program.
const BUBBLEWRAP: &str = "bwrap";
const BUBBLEWRAP_VARIABLE: &str = "LATHE_BUBBLEWRAP";

/// The processes that build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum BuildWorkers {
    /// The server itself, with a child process for each step that runs an author's code
    #[default]
    Internal,
    /// `lathe worker` processes, started separately on the same machine
    External,
}

#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default)]
pub struct BuildSettings {
    /// The bubblewrap program, which confines builds [default: bwrap in PATH]
    ///
    /// See [the build sandbox](../how-to/set-up-the-build-sandbox.md).
    #[arg(long, env = BUBBLEWRAP_VARIABLE, value_name = "PROGRAM")]
    pub bubblewrap: Option<PathBuf>,
    /// Registries that no setting names: host for those of pip, npm and cargo on this machine, or none [default: host]
    ///
    /// See [package registries](#package-registries).
    #[arg(long, env = "LATHE_DEFAULT_REGISTRIES", value_enum)]
    pub default_registries: Option<DefaultRegistries>,
    /// Python package index (simple API) for pinned dependencies [default: that of pip or uv, or PyPI]
    ///
    /// See [package registries](#package-registries) and [the package index](#the-package-index).
    #[arg(long, env = "LATHE_PYTHON_INDEX", value_name = "URL")]
    pub python_index: Option<String>,
    /// Rust toolchain directory, in rustup's layout [default: that of rustc in PATH]
    ///
    /// See [tools in Rust](../how-to/tools-in-rust.md#what-a-server-needs).
    #[arg(long, env = "LATHE_RUST_TOOLCHAIN", value_name = "DIRECTORY")]
    pub rust_toolchain: Option<PathBuf>,
    /// The only Rust toolchain that may compile, by the digest in the build log [default: any]
    ///
    /// [Provenance](../how-to/verify-a-version.md) has it, too.
    #[arg(long, env = "LATHE_RUST_TOOLCHAIN_DIGEST", value_name = "DIGEST")]
    pub rust_toolchain_digest: Option<Digest>,
    /// Crate index: crates.io, or the URL of a sparse index [default: that of cargo, or crates.io]
    ///
    /// See [package registries](#package-registries).
    #[arg(long, env = "LATHE_CRATE_INDEX", value_name = "URL")]
    pub crate_index: Option<String>,
    /// npm registry for locked dependencies [default: that of npm]
    ///
    /// See [package registries](#package-registries) and [tools in JavaScript](../how-to/tools-in-javascript.md#packages).
    #[arg(long, env = "LATHE_NPM_REGISTRY", value_name = "URL")]
    pub npm_registry: Option<String>,
    /// The esbuild program, which bundles JavaScript and TypeScript [default: esbuild in PATH, or a package of the npm registry]
    ///
    /// See [esbuild](#esbuild).
    #[arg(long, env = "LATHE_ESBUILD", value_name = "FILE")]
    pub esbuild: Option<PathBuf>,
    /// The only esbuild that may bundle, by the digest of its program [default: any]
    ///
    /// SHA-256, as `sha256:…`.
    #[arg(long, env = "LATHE_ESBUILD_DIGEST", value_name = "DIGEST")]
    pub esbuild_digest: Option<Digest>,
}

impl BuildSettings {
    /// The builder's configuration with these settings. Programs that are not given are looked up in `PATH`.
    pub fn apply_to(self, default: builder::Config) -> builder::Config {
        let RegistryUrls { python_index, npm_registry, crate_index } = self.registries().urls();
        builder::Config {
            bubblewrap: self.find_bubblewrap(),
            rust_toolchain: self.find_rust_toolchain(),
            rust_toolchain_digest: self.rust_toolchain_digest,
            python_index,
            npm_registry,
            crate_index,
            esbuild: programs::find_esbuild(self.esbuild.as_deref()),
            esbuild_digest: self.esbuild_digest,
            ..default
        }
    }

    /// The bubblewrap program: the named one, or that in `PATH`.
    pub fn find_bubblewrap(&self) -> Option<PathBuf> {
        self.bubblewrap.clone().or_else(|| programs::find(BUBBLEWRAP))
    }

    /// The directory of the Rust toolchain: the named one, or that of `rustc` in `PATH`.
    pub fn find_rust_toolchain(&self) -> Option<PathBuf> {
        self.rust_toolchain.clone().or_else(programs::find_rust_toolchain)
    }

    /// The registries that these settings name, and the default ones.
    pub fn registries(&self) -> Registries {
        let named = Registries {
            python: Registry::set(self.python_index.clone(), "python_index"),
            npm: Registry::set(self.npm_registry.clone(), "npm_registry"),
            crates: Registry::set(self.crate_index.clone(), "crate_index"),
        };
        named.fill_from(Registries::find_defaults(self.default_registries.unwrap_or_default()))
    }
}

/// The bubblewrap program that the environment names, for commands without a flag for it.
pub fn find_bubblewrap() -> Option<PathBuf> {
    std::env::var_os(BUBBLEWRAP_VARIABLE).map(PathBuf::from)
}
