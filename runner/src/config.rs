//! Settings of the runner.
//!
//! | field | meaning | default |
//! |---|---|---|
//! | `cache_dir` | compiled code of this node, compiled again when lost | `<data>/cache` |
//! | `cache_key` | key that authenticates the compiled code | derived from the node's key |
//! | `compiler` | program and arguments of the child that compiles | this binary |
//! | `runners` | runner processes; without them, runs share one thread of this process | none |
//! | `schema_worker` | program and arguments of the processes for costly schema matching; without it, threads of this process match | none |
//! | `base_url` | URL of the server, before the paths of links to it; empty, links are paths | empty |
//! | `runs` | concurrent and waiting runs, in the process and of one organisation | 32 and 256, of one organisation 24 and 192 |
//! | `input_bytes_max` | bytes of the inputs of running and waiting runs, of one organisation three quarters | 128 MiB |
//! | `egress` | destinations of tools' requests | none |
//! | `limits_max` | upper bounds of every version's limits | see [`Limits`] |

use std::path::PathBuf;

use ipnet::IpNet;
use registry::{AdmissionBounds, HostPattern};

use crate::depth::DEPTH_MAX;
use crate::limits::Limits;

/// Concurrent runs. One thread interleaves them; each has up to 256 MiB.
const PARALLEL_RUNS_MAX: usize = 32;
/// Waiting runs: about a second of work for one thread. Clients gain nothing from longer waits.
const QUEUED_RUNS_MAX: usize = 256;

/// Bytes of the inputs of all running and waiting runs. A run that goes on has three copies of its input: one in its record's tape, one on the
/// way to its runner.
pub(crate) const INPUT_BYTES_MAX: usize = 128 << 20;

/// Concurrent runs of each level of calls that runs make.
pub(crate) const NESTED_PARALLEL_MAX: usize = 8;
/// Concurrent runs of all levels of such calls.
const NESTED_RUNS_MAX: usize = NESTED_PARALLEL_MAX * DEPTH_MAX as usize;

/// Settings of the runner processes.
#[derive(Debug, Clone)]
pub struct Runners {
    /// Program and arguments.
    pub command: Vec<String>,
    pub count: usize,
}

impl Runners {
    /// One runner for each core, all of them this program.
    #[must_use]
    pub fn new(program: &str) -> Self {
        Self {
            command: vec![program.into(), "internal".into(), "run".into()],
            count: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Hosts and networks to which tools may send requests.
#[derive(Debug, Clone, Default)]
pub struct EgressConfig {
    /// Hosts that versions may declare. An empty list switches outbound HTTP off.
    pub hosts: Vec<HostPattern>,
    /// Networks that may be reached besides the public Internet.
    pub networks: Vec<IpNet>,
    pub budget: EgressBudget,
}

/// Limits of every organisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EgressBudget {
    pub requests_per_minute: u32,
    /// Bytes sent and received.
    pub bytes_per_minute: u64,
    /// Requests in flight. Further requests wait.
    pub parallel_max: usize,
}

impl EgressBudget {
    /// Twenty requests a second, and about 9 MB a second.
    pub const DEFAULT: Self = Self { requests_per_minute: 1_200, bytes_per_minute: 512 << 20, parallel_max: 64 };
}

impl Default for EgressBudget {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[derive(Debug, Clone)]
pub struct Config {
    pub cache_dir: PathBuf,
    pub cache_key: [u8; 32],
    pub compiler: Vec<String>,
    pub runners: Option<Runners>,
    pub schema_worker: Option<Vec<String>>,
    pub base_url: String,
    pub runs: AdmissionBounds,
    pub input_bytes_max: usize,
    pub egress: EgressConfig,
    pub limits_max: Limits,
}

/// Command of schema workers, with this program as their program.
#[must_use]
pub fn schema_worker(program: &str) -> Vec<String> {
    vec![program.into(), "internal".into(), "schema".into()]
}

impl Config {
    /// Instances that exist at the same time: a run of each slot, at every level of calls.
    #[must_use]
    pub(crate) fn instances_max(&self) -> u32 {
        u32::try_from(self.runs.parallel_max.saturating_add(NESTED_RUNS_MAX)).unwrap_or(u32::MAX)
    }

    /// The defaults, with this program as its own compiler.
    #[must_use]
    pub fn new(cache_dir: PathBuf, cache_key: [u8; 32], program: &str) -> Self {
        Self {
            cache_dir,
            cache_key,
            compiler: vec![program.into(), "internal".into(), "compile".into()],
            runners: None,
            schema_worker: None,
            base_url: String::new(),
            runs: AdmissionBounds::shared(PARALLEL_RUNS_MAX, QUEUED_RUNS_MAX),
            input_bytes_max: INPUT_BYTES_MAX,
            egress: EgressConfig::default(),
            limits_max: Limits::MAX,
        }
    }
}
