//! `lathe tool test`: a directory's project here, or a pushed branch on a server.

mod local;
mod pushed;
mod report;
mod round;
mod watch;

use std::path::PathBuf;

use clap::Args;

use crate::commands::input::InputArguments;
use crate::failure::Outcome;
use crate::home::Home;
use crate::output::Screen;

#[derive(Debug, Args)]
pub struct TestArguments {
    /// The project's directory [default: the current one]
    path: Option<PathBuf>,
    /// Have the server build this pushed branch, instead of the directory here
    #[arg(long)]
    branch: Option<String>,
    /// Have the server build the pushed branch that is checked out here
    #[arg(long, conflicts_with = "branch")]
    pushed: bool,
    /// Test again whenever a file changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["branch", "pushed"])]
    watch: bool,
    #[command(flatten)]
    input: InputArguments,
    /// A variable for these inputs only
    #[arg(long = "envvar", value_name = "NAME[=VALUE]")]
    envvars: Vec<String>,
    /// A secret for these inputs only; without =VALUE it is read from the environment, with =- from stdin
    #[arg(long = "secret", value_name = "NAME[=VALUE]")]
    secrets: Vec<String>,
    /// URL of the package index (simple API) that tests here take dependencies from
    #[arg(long, value_name = "URL", env = "LATHE_PYTHON_INDEX")]
    python_index: Option<String>,
    /// Where tests here take crates from: crates.io, or the URL of a sparse index
    #[arg(long, value_name = "URL", env = "LATHE_CRATE_INDEX", default_value = "crates.io")]
    crate_index: String,
    /// The directory of the toolchain for tools in Rust [default: that of rustc in PATH]
    #[arg(long, value_name = "DIRECTORY", env = "LATHE_RUST_TOOLCHAIN")]
    rust_toolchain: Option<PathBuf>,
    /// URL of the npm registry that tests here take dependencies from
    #[arg(long, value_name = "URL", env = "LATHE_NPM_REGISTRY")]
    npm_registry: Option<String>,
    /// The esbuild that tests here bundle with [default: the one in PATH]
    #[arg(long, value_name = "FILE", env = "LATHE_ESBUILD")]
    esbuild: Option<PathBuf>,
}

pub async fn run(arguments: &TestArguments, screen: Screen) -> anyhow::Result<Outcome> {
    if arguments.pushed || arguments.branch.is_some() {
        return pushed::run(&Home::of_user()?.client()?, arguments, screen).await;
    }
    local::run(arguments, screen).await
}
