//! What builds need of the machine that they are on: settings of the server, or of a worker.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use registry::Digest;
use serde::Deserialize;

use super::file::SettingsFile;
use crate::programs;

/// What bubblewrap's program is called.
const BUBBLEWRAP: &str = "bwrap";
pub const BUBBLEWRAP_VARIABLE: &str = "LATHE_BUBBLEWRAP";
pub const RUST_TOOLCHAIN_VARIABLE: &str = "LATHE_RUST_TOOLCHAIN";

/// Which processes build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum BuildWorkers {
    /// The server itself, with a child for each step that runs what authors wrote
    #[default]
    Internal,
    /// `lathe worker`, which somebody has to start beside the server
    External,
}

#[derive(Clone, Debug, Default, Args)]
pub struct BuildArguments {
    /// The bubblewrap that confines builds [default: bwrap of PATH]
    #[arg(long, env = BUBBLEWRAP_VARIABLE, value_name = "PROGRAM")]
    bubblewrap: Option<PathBuf>,
    /// The package index (simple API) that pinned dependencies come from [default: none, and dependencies are refused]
    #[arg(long, env = "LATHE_PYTHON_INDEX", value_name = "URL")]
    python_index: Option<String>,
    /// The directory of the toolchain for tools in Rust, as rustup makes them [default: that of rustc in PATH]
    #[arg(long, env = RUST_TOOLCHAIN_VARIABLE, value_name = "DIRECTORY")]
    rust_toolchain: Option<PathBuf>,
    /// The only toolchain that may compile, by the digest that the log of a build names [default: any]
    #[arg(long, env = "LATHE_RUST_TOOLCHAIN_DIGEST", value_name = "DIGEST")]
    rust_toolchain_digest: Option<Digest>,
    /// Where crates come from: crates.io, or the URL of a sparse index [default: none, and dependencies are refused]
    #[arg(long, env = "LATHE_CRATE_INDEX", value_name = "URL")]
    crate_index: Option<String>,
    /// The npm registry that locked dependencies come from [default: none, and dependencies are refused]
    #[arg(long, env = "LATHE_NPM_REGISTRY", value_name = "URL")]
    npm_registry: Option<String>,
    /// The esbuild that bundles JavaScript and TypeScript [default: the one in PATH]
    #[arg(long, env = "LATHE_ESBUILD", value_name = "FILE")]
    esbuild: Option<PathBuf>,
    /// The only esbuild that may bundle, by the digest of its program [default: any]
    #[arg(long, env = "LATHE_ESBUILD_DIGEST", value_name = "DIGEST")]
    esbuild_digest: Option<Digest>,
}

/// What came of them.
#[derive(Clone, Debug)]
pub struct BuildSettings {
    bubblewrap: Option<PathBuf>,
    python_index: Option<String>,
    rust_toolchain: Option<PathBuf>,
    rust_toolchain_digest: Option<Digest>,
    pub crate_index: Option<String>,
    npm_registry: Option<String>,
    esbuild: Option<PathBuf>,
    esbuild_digest: Option<Digest>,
}

impl BuildArguments {
    pub fn or(self, file: &mut SettingsFile) -> BuildSettings {
        BuildSettings {
            bubblewrap: bubblewrap(self.bubblewrap, file.bubblewrap.take()),
            python_index: self.python_index.or(file.python_index.take()),
            rust_toolchain: self.rust_toolchain.or(file.rust_toolchain.take()).or_else(programs::rust_toolchain),
            rust_toolchain_digest: self.rust_toolchain_digest.or(file.rust_toolchain_digest.take()),
            crate_index: self.crate_index.or(file.crate_index.take()),
            npm_registry: self.npm_registry.or(file.npm_registry.take()),
            esbuild: self.esbuild.or(file.esbuild.take()),
            esbuild_digest: self.esbuild_digest.or(file.esbuild_digest.take()),
        }
    }
}

impl BuildSettings {
    /// As the builder has them.
    pub fn over(&self, default: builder::Config) -> builder::Config {
        let Self { bubblewrap, python_index, rust_toolchain, crate_index, npm_registry, esbuild, .. } = self.clone();
        let Self { rust_toolchain_digest, esbuild_digest, .. } = *self;
        builder::Config {
            bubblewrap,
            python_index,
            rust_toolchain,
            rust_toolchain_digest,
            crate_index,
            npm_registry,
            esbuild: programs::esbuild(esbuild.as_deref()),
            esbuild_digest,
            ..default
        }
    }
}

/// The bubblewrap of commands that have no settings file.
pub fn found_bubblewrap() -> Option<PathBuf> {
    bubblewrap(std::env::var_os(BUBBLEWRAP_VARIABLE).map(PathBuf::from), None)
}

pub fn bubblewrap(named: Option<PathBuf>, from_file: Option<PathBuf>) -> Option<PathBuf> {
    named.or(from_file).or_else(|| programs::find(BUBBLEWRAP))
}
