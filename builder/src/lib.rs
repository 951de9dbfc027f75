//! Turns a commit into a runnable component.
//!
//! [`Builder`] publishes commits: it wraps the pipeline of `build`, which knows no store. [`LocalBuilder`] builds a
//! directory without a server. `steps` has one file for each step of a build, `toolchain` one folder for each language, and
//! `checks` runs the author's checks.

mod attestation;
mod blocking;
mod build;
mod built;
mod cache_bounds;
mod checks;
mod component;
mod composed_path;
mod config;
mod conventions;
mod decoded_text;
pub mod directory;
mod error;
pub mod gate;
mod images;
mod io_error;
mod local;
mod metrics;
mod progress;
mod project_texts;
mod publish;
mod registries;
pub mod sandbox;
mod snapshots;
mod steps;
mod supplied_variables;
mod text;
mod toolchain;
mod warnings;
mod worker;
mod worker_endpoint;
mod workers;

pub use checks::Checked;
pub use component::Image;
pub use config::{BuildPlace, Config};
pub use decoded_text::{NotText, decode_text};
pub use error::{Error, ErrorKind, Location};
pub use local::{LocalBuilder, LocalRun};
pub use metrics::describe_metrics;
pub use progress::{BuildEvent, BuildProgress, StepState};
pub use publish::{
    Builder, BuilderServices, PublishRequest, Published, ReplayGate, ReplayedBranch, TestRequest, Verification,
    VersionDifference,
};
pub use registries::{RegistryCheck, RegistryUrls, check_registries};
pub use snapshots::CACHES;
pub use steps::bundle::child_bundle_main;
pub use steps::documents::child_parse_main;
pub use steps::esbuild::{Esbuild, EsbuildSource, PINNED_ESBUILD, child_esbuild_main};
pub use steps::inspect::inspect_tool;
pub use supplied_variables::SuppliedVariables;
pub use toolchain::rust::installation::RustInstallation;
pub use worker::{Worker, WorkerError};
pub use worker_endpoint::WorkerEndpoint;
pub use workers::handshake::{PoolStatus, pool_status};

#[cfg(test)]
#[path = "../tests/fuzz/mod.rs"]
mod fuzz;
