//! The server: its settings, its assembly, and the commands `serve` and `worker`.
//!
//! A flag wins over the environment, the environment over `lathe.toml`, the file over the default. `lathe serve --help`
//! lists the settings with their defaults. A setting is a field of `serve_settings`, or of a group in a module of its own: what a worker
//! shares with its server, what `lathe doctor` reads, and the tables of the file: `[limits]`, `[egress]`, `[run_limits]` and
//! `[rate_limits]`.

mod assemble;
mod builds;
mod caches;
mod configs;
mod data;
mod egress;
mod embeddings;
mod endpoint_key;
mod file;
mod file_keys;
mod given;
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
mod serve_settings;
mod settings;
mod signals;
mod storage;
mod sweep;
mod telemetry;
mod vectors;
mod worker;

pub use assemble::{Assembled, CACHE_KEY_LABEL, assemble, find_program};
pub use builds::{BuildSettings, find_bubblewrap};
pub use configs::THIS_PROGRAM;
pub use data::{DataArguments, Location, parse_database_url};
pub use installation::{open_existing_store, open_store, require_data_directory, require_installation};
pub use proxies::ProxySettings;
pub use serve::serve;
pub use settings::{ServeArguments, Settings};
pub use signals::Signals;
pub use storage::{
    ContentsCopy, ContentsKind, StorageSettings, VerifiedContents, connect, name_owner, open_artifacts,
    open_shared_repositories, read_recorded_storage, refuse_other_storage,
};
pub use telemetry::log_for_demo;
pub use worker::{WorkerArguments, run as worker};
#[cfg(test)]
pub use {file_keys::find_key, serve_settings::ServeSettings, worker::WorkerSettings};
