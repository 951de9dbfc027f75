//! The builder's settings.
//!
//! | field | meaning | default |
//! |---|---|---|
//! | `parser` | program and arguments of the child that parses TOML and unpacks packages | this binary |
//! | `bundler` | program and arguments of the bundling child | this binary |
//! | `cache_dir` | downloaded packages and snapshots | `<data>/cache` |
//! | `bubblewrap` | the program that confines builds which run an author's code natively | none: such builds are refused |
//! | `scratch_dir` | temporary files of running builds; emptied at the start | `<data>/scratch` |
//! | `confiner` | program and arguments of the child that becomes esbuild | this binary |
//! | `esbuild` | the bundler of JavaScript and TypeScript | the package of the npm registry |
//! | `esbuild_digest` | the digest of the only esbuild that is allowed | none: any |
//! | `npm_registry` | URL of an npm registry | none: dependencies are refused |
//! | `python_index` | URL of a package index with the simple API | none: dependencies are refused |
//! | `rust_toolchain` | the directory of a Rust toolchain, in rustup's layout | none: tools in Rust are refused |
//! | `rust_toolchain_digest` | the digest of the only Rust toolchain that is allowed | none: any |
//! | `crate_index` | `crates.io`, or the URL of a sparse index of crates | none: dependencies are refused |
//! | `workers` | the socket of build workers, which then build all components | none: this process builds them |
//! | `builds` | running and waiting builds, of the process and of one organisation | 2 and 16, of one organisation 2 and 12 |
//! | `place` | the place that messages name | this server |
//! | `limits_max` | the highest limits that a version may set | see `runner::Limits` |

use std::path::PathBuf;

use registry::{AdmissionBounds, Digest};
use runner::Limits;

use crate::steps::esbuild::EsbuildSource;
use crate::worker_endpoint::WorkerEndpoint;

/// Running builds. Each has a child process of up to a gigabyte and a core.
const PARALLEL_BUILDS_MAX: usize = 2;
/// Waiting builds. A build takes a few seconds; further builds would exceed the time that a build may wait.
const QUEUED_BUILDS_MAX: usize = 16;

/// The place where builds run, for messages about what is missing there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BuildPlace {
    /// A server or its worker. The author asks its operator.
    #[default]
    Server,
    /// The author's machine, in a local test.
    Machine,
}

impl BuildPlace {
    /// The noun for messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Server => "this server",
            Self::Machine => "this machine",
        }
    }

    /// The next step when a setting has to name a program: who sets it, and where.
    pub(crate) fn set(self, option: &str, variable: &str) -> String {
        match self {
            Self::Server => format!("its operator names another one with `{option}` of `lathe serve`, or {variable}"),
            Self::Machine => format!("`{option}` of `lathe tool test`, or {variable}, names another one"),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Config {
    pub parser: Vec<String>,
    pub bundler: Vec<String>,
    pub confiner: Vec<String>,
    pub esbuild: EsbuildSource,
    pub esbuild_digest: Option<Digest>,
    pub npm_registry: Option<String>,
    pub cache_dir: PathBuf,
    pub bubblewrap: Option<PathBuf>,
    pub scratch_dir: PathBuf,
    pub python_index: Option<String>,
    pub rust_toolchain: Option<PathBuf>,
    pub rust_toolchain_digest: Option<Digest>,
    pub crate_index: Option<String>,
    pub workers: Option<WorkerEndpoint>,
    pub builds: AdmissionBounds,
    pub place: BuildPlace,
    pub limits_max: Limits,
}

impl Config {
    /// The defaults. `program` is this binary, which runs its own child processes.
    #[must_use]
    pub fn new(cache_dir: PathBuf, scratch_dir: PathBuf, program: &str) -> Self {
        let own = |command: &str| vec![program.into(), "internal".into(), command.into()];
        Self {
            parser: own("parse"),
            bundler: own("bundle"),
            confiner: own("esbuild"),
            esbuild: EsbuildSource::default(),
            esbuild_digest: None,
            npm_registry: None,
            cache_dir,
            bubblewrap: None,
            scratch_dir,
            python_index: None,
            rust_toolchain: None,
            rust_toolchain_digest: None,
            crate_index: None,
            workers: None,
            builds: AdmissionBounds::shared(PARALLEL_BUILDS_MAX, QUEUED_BUILDS_MAX),
            place: BuildPlace::default(),
            limits_max: Limits::MAX,
        }
    }
}
