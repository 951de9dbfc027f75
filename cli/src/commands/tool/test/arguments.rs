//! The arguments of `lathe tool test`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use registry::{BranchName, EnvvarName};

use crate::commands::env_file;
use crate::commands::input::{self, InputArguments};
use crate::registries::DefaultRegistries;

#[derive(Debug, Args)]
pub struct TestArguments {
    /// Project directory [default: the current one]
    pub path: Option<PathBuf>,
    /// Test this pushed branch on the server, instead of the local directory
    #[arg(long)]
    pub branch: Option<BranchName>,
    /// Test the pushed state of the branch that is checked out, on the server
    #[arg(long, conflicts_with = "branch")]
    pub pushed: bool,
    /// Test again whenever a file changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["branch", "pushed"])]
    pub watch: bool,
    #[command(flatten)]
    pub input: InputArguments,
    /// Let the runs of these inputs send requests to the hosts that the project declares, as on a server; checks have no
    /// network in any case
    #[arg(long, requires = "inputs", conflicts_with_all = ["branch", "pushed"])]
    pub allow_network: bool,
    /// Environment variable for these inputs; NAME=- reads stdin, NAME alone the environment; repeatable
    #[arg(long = "envvar", value_name = "NAME[=VALUE]")]
    pub envvars: Vec<String>,
    /// Secret for these inputs; NAME=- reads stdin, NAME alone the environment; repeatable
    #[arg(long = "secret", value_name = "NAME[=VALUE]")]
    pub secrets: Vec<String>,
    /// File with variables and secrets for these inputs, a line NAME=VALUE for each; the options above win
    #[arg(long, value_name = "FILE", conflicts_with_all = ["branch", "pushed"])]
    pub env_file: Option<String>,
    /// Registries that no option names: host for those of pip, npm and cargo on this machine, or none
    #[arg(long, env = "LATHE_DEFAULT_REGISTRIES", value_enum, default_value = "host", hide_possible_values = true)]
    pub default_registries: DefaultRegistries,
    /// Python package index (simple API) for local tests [default: that of pip or uv, or PyPI]
    #[arg(long, value_name = "URL", env = "LATHE_PYTHON_INDEX")]
    pub python_index: Option<String>,
    /// Crate index for local tests: crates.io, or the URL of a sparse index [default: that of cargo, or crates.io]
    #[arg(long, value_name = "URL", env = "LATHE_CRATE_INDEX")]
    pub crate_index: Option<String>,
    /// Rust toolchain directory for local tests [default: that of rustc in PATH]
    #[arg(long, value_name = "DIRECTORY", env = "LATHE_RUST_TOOLCHAIN")]
    pub rust_toolchain: Option<PathBuf>,
    /// npm registry for local tests [default: that of npm]
    #[arg(long, value_name = "URL", env = "LATHE_NPM_REGISTRY")]
    pub npm_registry: Option<String>,
    /// esbuild program for local tests [default: esbuild in PATH, or a package of the npm registry]
    #[arg(long, value_name = "FILE", env = "LATHE_ESBUILD")]
    pub esbuild: Option<PathBuf>,
}

impl TestArguments {
    /// The variables and the secrets of the inputs. A variable of the file can be either: the project says which it needs.
    pub fn read_variables<S: From<String>>(&self) -> anyhow::Result<(Variables<String>, Variables<S>)> {
        let of_file = self.env_file.as_deref().map_or_else(|| Ok(BTreeMap::new()), env_file::read)?;
        let (mut plain, mut secret) = (input::parse_names(of_file.clone())?, input::parse_names(of_file)?);
        plain.extend(input::read_variables(&self.envvars)?);
        secret.extend(input::read_variables(&self.secrets)?);
        Ok((plain, secret))
    }
}

type Variables<T> = BTreeMap<EnvvarName, T>;
