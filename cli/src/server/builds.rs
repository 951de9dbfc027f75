//! Settings of builds, which `lathe serve` and `lathe worker` share.

use std::path::PathBuf;

use builder::RegistryUrls;
use clap::{Args, Command, FromArgMatches, ValueEnum};
use registry::Digest;
use serde::Deserialize;

use crate::programs;
use crate::registries::{DefaultRegistries, Registries, Registry};

/// The name of bubblewrap's program.
const BUBBLEWRAP: &str = "bwrap";
const BUBBLEWRAP_VARIABLE: &str = "LATHE_BUBBLEWRAP";
pub const RUST_TOOLCHAIN_VARIABLE: &str = "LATHE_RUST_TOOLCHAIN";

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

#[derive(Clone, Debug, Default, Args)]
pub struct BuildArguments {
    /// The bubblewrap program, which confines builds [default: bwrap in PATH]
    #[arg(long, env = BUBBLEWRAP_VARIABLE, value_name = "PROGRAM")]
    pub bubblewrap: Option<PathBuf>,
    /// Registries that no setting names: host for those of pip, npm and cargo on this machine, or none [default: host]
    #[arg(long, env = "LATHE_DEFAULT_REGISTRIES", value_enum)]
    pub default_registries: Option<DefaultRegistries>,
    /// Python package index (simple API) for pinned dependencies [default: that of pip or uv, or PyPI]
    #[arg(long, env = "LATHE_PYTHON_INDEX", value_name = "URL")]
    pub python_index: Option<String>,
    /// Rust toolchain directory, in rustup's layout [default: that of rustc in PATH]
    #[arg(long, env = RUST_TOOLCHAIN_VARIABLE, value_name = "DIRECTORY")]
    pub rust_toolchain: Option<PathBuf>,
    /// The only Rust toolchain that may compile, by the digest in the build log [default: any]
    #[arg(long, env = "LATHE_RUST_TOOLCHAIN_DIGEST", value_name = "DIGEST")]
    pub rust_toolchain_digest: Option<Digest>,
    /// Crate index: crates.io, or the URL of a sparse index [default: that of cargo, or crates.io]
    #[arg(long, env = "LATHE_CRATE_INDEX", value_name = "URL")]
    pub crate_index: Option<String>,
    /// npm registry for locked dependencies [default: that of npm]
    #[arg(long, env = "LATHE_NPM_REGISTRY", value_name = "URL")]
    pub npm_registry: Option<String>,
    /// The esbuild program, which bundles JavaScript and TypeScript [default: esbuild in PATH, or a package of the npm registry]
    #[arg(long, env = "LATHE_ESBUILD", value_name = "FILE")]
    pub esbuild: Option<PathBuf>,
    /// The only esbuild that may bundle, by the digest of its program [default: any]
    #[arg(long, env = "LATHE_ESBUILD_DIGEST", value_name = "DIGEST")]
    pub esbuild_digest: Option<Digest>,
}

impl BuildArguments {
    /// Fills settings that are not given from `other`.
    pub fn or(self, other: Self) -> Self {
        Self {
            bubblewrap: self.bubblewrap.or(other.bubblewrap),
            default_registries: self.default_registries.or(other.default_registries),
            python_index: self.python_index.or(other.python_index),
            rust_toolchain: self.rust_toolchain.or(other.rust_toolchain),
            rust_toolchain_digest: self.rust_toolchain_digest.or(other.rust_toolchain_digest),
            crate_index: self.crate_index.or(other.crate_index),
            npm_registry: self.npm_registry.or(other.npm_registry),
            esbuild: self.esbuild.or(other.esbuild),
            esbuild_digest: self.esbuild_digest.or(other.esbuild_digest),
        }
    }

    /// The builder's configuration with these settings. Programs that are not given are looked up in `PATH`.
    pub fn over(self, default: builder::Config) -> builder::Config {
        let RegistryUrls { python_index, npm_registry, crate_index } = self.registries().urls();
        builder::Config {
            bubblewrap: self.bubblewrap.or_else(|| programs::find(BUBBLEWRAP)),
            rust_toolchain: self.rust_toolchain.or_else(programs::rust_toolchain),
            rust_toolchain_digest: self.rust_toolchain_digest,
            python_index,
            npm_registry,
            crate_index,
            esbuild: programs::esbuild(self.esbuild.as_deref()),
            esbuild_digest: self.esbuild_digest,
            ..default
        }
    }

    /// The registries that these settings name, and the default ones.
    pub fn registries(&self) -> Registries {
        let named = Registries {
            python: Registry::set(self.python_index.clone(), "python_index"),
            npm: Registry::set(self.npm_registry.clone(), "npm_registry"),
            crates: Registry::set(self.crate_index.clone(), "crate_index"),
        };
        named.or(Registries::default_of(self.default_registries.unwrap_or_default()))
    }

    /// The settings in the environment, for commands without flags for them.
    ///
    /// # Errors
    /// When a variable has an invalid value.
    pub fn of_environment() -> Result<Self, clap::Error> {
        let command = Self::augment_args(Command::new("lathe").no_binary_name(true));
        Self::from_arg_matches(&command.try_get_matches_from(std::iter::empty::<String>())?)
    }
}

/// The bubblewrap program for commands that have no flag for it: from the environment, the settings file, or `PATH`.
pub fn bubblewrap(from_file: Option<PathBuf>) -> Option<PathBuf> {
    let named = std::env::var_os(BUBBLEWRAP_VARIABLE).map(PathBuf::from);
    named.or(from_file).or_else(|| programs::find(BUBBLEWRAP))
}
