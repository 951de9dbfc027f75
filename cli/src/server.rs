//! The server: its settings, its assembly, and the command that runs it.
//!
//! | setting | flag | environment | `lathe.toml` | default |
//! |---|---|---|---|---|
//! | address to listen on | `--listen` | `LATHE_LISTEN` | `listen` | `127.0.0.1:8080` |
//! | data directory | `--data` | `LATHE_DATA` | `data` | `./lathe-data` |
//! | settings file | `--config` | `LATHE_CONFIG` | | `lathe.toml` in the current directory, if there is one |
//! | what to log | `--log` | `LATHE_LOG` | `log` | `info` |
//! | form of the log | `--log-format` | `LATHE_LOG_FORMAT` | `log_format` | `human` |
//! | runner processes | `--runners` | `LATHE_RUNNERS` | `runners` | one for each core |
//! | runs at once | `--parallel-runs` | `LATHE_PARALLEL_RUNS` | `parallel_runs` | the runner's |
//! | runs that wait | `--queued-runs` | `LATHE_QUEUED_RUNS` | `queued_runs` | the runner's |
//! | hours that runs can be replayed | `--tape-hours` | `LATHE_TAPE_HOURS` | `tape_hours` | the registry's |
//! | live versions of a tool | `--live-versions` | `LATHE_LIVE_VERSIONS` | `live_versions` | the registry's |
//! | cache | `--cache` | `LATHE_CACHE` | `cache` | `cache` in the data directory |
//! | package index | `--python-index` | `LATHE_PYTHON_INDEX` | `python_index` | none: dependencies are refused |
//! | toolchain for tools in Rust | `--rust-toolchain` | `LATHE_RUST_TOOLCHAIN` | `rust_toolchain` | that of `rustc` in `PATH` |
//! | the only such toolchain | `--rust-toolchain-digest` | `LATHE_RUST_TOOLCHAIN_DIGEST` | `rust_toolchain_digest` | any |
//! | the only esbuild | `--esbuild-digest` | `LATHE_ESBUILD_DIGEST` | `esbuild_digest` | any |
//! | who builds | `--build-workers` | `LATHE_BUILD_WORKERS` | `build_workers` | `internal` |
//! | index of crates | `--crate-index` | `LATHE_CRATE_INDEX` | `crate_index` | none: dependencies are refused |
//! | requests per minute of a user | `--rate-limits` | `LATHE_RATE_LIMITS` | `rate_limits` | off |
//! | where metrics are served | `--metrics-listen` | `LATHE_METRICS_LISTEN` | `metrics_listen` | `127.0.0.1:9464` |
//! | collector of traces | `--otlp-endpoint` | `OTEL_EXPORTER_OTLP_ENDPOINT` | `otlp_endpoint` | none |
//! | where tools send requests | `--egress-hosts`, … | `LATHE_EGRESS_…` | `[egress]` | every public host |
//! | what runs may use | | | `[run_limits]` | the runner's |
//! | what is admitted at once | see `limits` | `LATHE_…` | `[limits]` | that of the crate that admits it |
//!
//! A flag wins over the environment, the environment over the file, the file over the default.

mod assemble;
mod builds;
mod egress;
mod file;
mod limits;
mod rate_limits;
mod run_limits;
mod serve;
mod settings;
mod signals;
mod sweep;
mod telemetry;
mod worker;

pub use assemble::{Assembled, CACHE_KEY_LABEL, THIS_PROGRAM, assemble, open_store, program};
pub use builds::found_bubblewrap;
pub use serve::{serve, url_of};
pub use settings::{DataArguments, ServeArguments, Settings};
pub use signals::Signals;
pub use telemetry::log_for_demo;
pub use worker::{WorkerArguments, run as worker};
