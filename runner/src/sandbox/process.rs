//! Runner processes, which separate guests from the server and from one another.
//!
//! A [`RunnerPool`] has one [`supervisor`] task per runner. It starts the process (`lathe internal run`, whose main is
//! [`child_run_main`]), exchanges [`messages`] with it over a Unix socket, watches it, and replaces it when it dies. Before its
//! first message the child confines itself ([`confinement`]); the [`self_test`] tries to escape.

mod child;
mod confinement;
mod file_access;
mod http_exchanges;
mod in_flight_run;
mod layer;
mod mailbox;
mod messages;
mod namespaces;
mod pool;
mod runner_process;
mod runner_session;
mod self_test;
mod sent_artifacts;
mod spawner;
mod supervisor;
mod system_calls;

pub use child::child_run_main;
pub(crate) use confinement::{close_inherited, confine, ignore_stops};
pub use layer::Layer;
pub use pool::RunnerPool;
pub use self_test::{Attempt, ConfinementSelfTest, confinement_self_test};
pub(crate) use spawner::ProcessSpawner;
