//! Hosted git, shown with the real `git` client against the real `git http-backend`.
#![expect(clippy::disallowed_methods, reason = "tests wait for real processes in real time")]

#[path = "git/bombs.rs"]
mod bombs;
#[path = "git/client.rs"]
mod client;
#[path = "git/export.rs"]
mod export;
#[path = "git/forge.rs"]
mod forge;
#[path = "git/fuzz.rs"]
mod fuzz;
#[path = "git/garbage.rs"]
mod garbage;
#[path = "git/generated.rs"]
mod generated;
#[path = "git/hostile.rs"]
mod hostile;
#[path = "git/server.rs"]
mod server;
#[path = "git/transport.rs"]
mod transport;
