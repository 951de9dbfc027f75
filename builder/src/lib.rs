//! Turns a commit into a runnable component.
//!
//! [`Builder`] is the shell around a store-free build, [`Workshop`] the same build
//! of a directory, without a server; `checks` runs what was built; `source` is hosted git,
//! `steps` the build itself, one file a step.

mod attestation;
mod build;
mod checks;
mod component;
mod config;
pub mod directory;
mod error;
pub mod gate;
mod given;
mod images;
mod local;
mod metrics;
mod progress;
mod publish;
pub mod sandbox;
mod snapshots;
pub mod source;
mod steps;
mod toolchain;
mod workbench;
mod worker;
mod workers;

pub use build::Built;
pub use checks::Checked;
pub use component::{Artefact, BUNDLE_SECTION, Image, with_bundle};
pub use config::Config;
pub use error::{Error, ErrorKind, Place};
pub use local::Workshop;
pub use metrics::describe_metrics;
pub use progress::{BuildEvent, Progress, StepState};
pub use publish::{Builder, PublishRequest, ReplayGate, TestRequest, Verification, VersionDifference};
pub use steps::bundle::child_bundle_main;
pub use steps::esbuild::{Esbuild, EsbuildMissing, child_esbuild_main};
pub use steps::inspect::inspect_tool;
pub use toolchain::rust::Programs as RustPrograms;
pub use workbench::Workbench;
pub use worker::{Worker, WorkerError};
pub use workers::{Onlooked, Place as WorkersPlace, look as look_for_workers};
