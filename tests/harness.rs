//! The test harness: private servers and a shared one, teams with repositories, and tools that read as sentences.
//!
//! ```ignore
//! let team = Team::new();
//! let tool = team.tool("greet").body("return 'hello'").published();
//! assert_eq!(tool.invoke(json!({})).output(), "hello");
//! ```
//!
//! Compiled code is shared by all servers of all runs, in a directory below the build's. It is authenticated with a
//! key that comes from the master key, so every data directory gets a copy of one master key.
//!
//! The end of a server's last holder stops it and everything that it started; it must stop by itself, in order.
//! Should the tests die, the kernel kills the servers.

mod attested;
mod bucket;
mod children;
#[path = "../registry/tests/store/cluster.rs"]
mod cluster;
pub mod contract;
mod database;
mod document;
mod embedding_endpoint;
mod events;
mod files;
mod http;
mod latch;
mod lathe;
mod model_endpoint;
mod need;
pub mod needs;
mod nodes;
mod npm_registry;
mod package_index;
mod process;
mod proxy;
mod raw;
#[path = "../registry/tests/store/relay.rs"]
mod relay;
mod repository;
mod run;
mod seed;
mod server;
mod shared_place;
mod site;
pub mod team;
mod terminal;
mod tool;
mod workers;

use std::time::Duration;

use tokio::time::Instant;

pub use self::repository::Repository;
pub use attested::Attested;
pub use bucket::Bucket;
pub use children::{compiling_processes, parsing_processes, runners, schema_processes};
pub use cluster::{Cluster, free_port};
pub use database::{
    Locked, change_database, check_integrity, commits_of_versions, count_record_events, count_rows, failed_builds,
    read_database, runs_going_on,
};
pub use embedding_endpoint::{Behaviour as EndpointBehaviour, EmbeddingEndpoint};
pub use events::Event;
pub use files::serve_files;
pub use http::{Answer, Request, fetch};
pub use latch::Latch;
pub use lathe::{Lathe, Said, clean_environment};
pub use model_endpoint::{ModelEndpoint, Reply};
pub use nodes::Nodes;
pub use npm_registry::{NpmRegistry, npm_archive, npm_entry, npm_lock};
pub use package_index::{HeldPackage, PackageIndex, is_registry_check, lock_line, package_wheel, wheel};
pub use process::Process;
pub use proxy::Proxy;
pub use run::Run;
pub use server::{Options, Server, local_cache};
pub use shared_place::{Hold, SharedPlace};
pub use site::Site;
pub use team::{Team, sign_in_as};
pub use terminal::Terminal;
pub use tool::{Bump, SIGNATURE, Tool, input, unindented};
pub use workers::{Worker, scratch_of_workers, server_with_workers, socket_of_workers};

/// Time limit of a test that would not end. It is no measure of how long anything takes: a machine ten times as slow
/// as a laptop, with ten times as many processes as cores, still stays below it.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Polls until `look` returns a value.
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what} did not happen within {} s", PATIENCE.as_secs());
        std::thread::sleep(Duration::from_millis(10));
    }
}
