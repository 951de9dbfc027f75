//! What an operator may set of the runner.
//!
//! | field | meaning | default |
//! |---|---|---|
//! | `cache_dir` | compiled code, node-local, made again when lost | `<data>/cache` |
//! | `cache_key` | authenticates the compiled code | derived from the node's key |
//! | `compiler` | program and arguments of the compiling child | this binary |
//! | `runners` | runner processes; without them runs are on one thread of this process | none |
//! | `runs` | runs at once and runs that wait, in the process and of one organisation | 32 and 256, of one 24 and 192 |
//! | `egress` | where tools may send requests | nowhere |
//! | `limits_max` | no version may ask for more | see [`Limits`] |

use std::path::PathBuf;

use crate::{Bounds, EgressConfig, Limits};

/// One thread interleaves this many runs; each holds up to 256 MiB.
const PARALLEL_RUNS_MAX: usize = 32;
/// About a second of work for one thread; longer waits help nobody.
const QUEUED_RUNS_MAX: usize = 256;

/// Runner processes.
#[derive(Debug, Clone)]
pub struct Runners {
    /// Program and arguments.
    pub command: Vec<String>,
    pub count: usize,
}

impl Runners {
    /// One for each core, with this program as their program.
    #[must_use]
    pub fn new(program: &str) -> Self {
        Self {
            command: vec![program.into(), "internal".into(), "run".into()],
            count: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Config {
    pub cache_dir: PathBuf,
    pub cache_key: [u8; 32],
    pub compiler: Vec<String>,
    pub runners: Option<Runners>,
    pub runs: Bounds,
    pub egress: EgressConfig,
    pub limits_max: Limits,
}

impl Config {
    /// The defaults, with this program as its own compiler.
    #[must_use]
    pub fn new(cache_dir: PathBuf, cache_key: [u8; 32], program: &str) -> Self {
        Self {
            cache_dir,
            cache_key,
            compiler: vec![program.into(), "internal".into(), "compile".into()],
            runners: None,
            runs: Bounds::shared(PARALLEL_RUNS_MAX, QUEUED_RUNS_MAX),
            egress: EgressConfig::default(),
            limits_max: Limits::MAX,
        }
    }
}
