//! The server: its settings, its assembly, and the commands `serve` and `worker`.
//!
//! A flag wins over the environment, the environment over `lathe.toml`, the file over the default. `lathe serve --help`
//! lists the settings with their defaults. `[limits]`, `[egress]`, `[run_limits]` and `[rate_limits]` are tables of the
//! file, each with a module here.

mod assemble;
mod builds;
mod caches;
mod egress;
mod embeddings;
mod file;
mod heartbeat;
mod installation;
mod limits;
mod model;
mod node;
mod proxies;
mod rate_limits;
mod registries;
mod run_limits;
mod serve;
mod settings;
mod signals;
mod storage;
mod sweep;
mod telemetry;
mod vectors;
mod worker;

pub use assemble::{Assembled, CACHE_KEY_LABEL, THIS_PROGRAM, assemble, program};
pub use builds::{BuildArguments, bubblewrap};
pub use installation::{open_existing_store, open_store, require_data_directory, require_installation};
pub use serve::serve;
pub use settings::{DataArguments, Location, ServeArguments, Settings, database_url};
pub use signals::Signals;
pub use storage::{
    ContentsCopy, ContentsKind, VerifiedContents, connect, open_artifacts, recorded_storage, shared_repositories,
    storage_differs, storage_owner,
};
pub use telemetry::log_for_demo;
pub use worker::{WorkerArguments, run as worker};
