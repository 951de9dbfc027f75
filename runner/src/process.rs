//! Runner processes: guests apart from the server and from one another.
//!
//! A [`Pool`] has one [`keeper`] task per runner. It starts the process (`lathe internal run`, whose main is
//! [`child_run_main`]), feeds it over a Unix socket with plain [`messages`], watches it from outside, and replaces it.
//! Before its first message the child takes from itself what a guest must not reach ([`confinement`]); the [`drill`]
//! tries to reach it.

mod arrived;
mod child;
mod confinement;
mod conversation;
mod drill;
mod exchanges;
mod file_access;
mod flight;
mod frames;
mod given;
mod keeper;
mod messages;
mod namespaces;
mod pool;
mod started;
mod starter;
mod system_calls;

pub use child::child_run_main;
pub use confinement::{Confinement, Layer};
pub use drill::{Attempt, Drill, drill};
pub use pool::Pool;
