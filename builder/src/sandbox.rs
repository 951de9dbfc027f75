//! The sandbox for programs that run an author's code natively, such as build scripts and compiler plug-ins.
//!
//! A job is one program in its own namespaces, which bubblewrap makes. The job sees the system's programs and the files
//! that it is shown, all read-only, and one directory in memory that is deleted with the job. The job has no network,
//! no inherited environment, its own user id, a seccomp filter, and a bound for every resource. Once the job has ended,
//! for whatever reason, none of its processes is left.
//!
//! Downloads need no job: the server itself fetches what a lock file pins and compares its hash, and no program that an
//! author influences takes part. Jobs therefore need no network.

mod arguments;
mod bounds;
mod child;
mod confined;
mod failure;
pub(crate) mod files;
mod handles;
mod identity;
mod job;
mod lazy;
mod log_writer;
mod missing;
mod output;
mod probe;
mod run;
mod scratch;
mod staging;
mod system_calls;
mod tree;
mod watch;

pub use bounds::Bounds;
pub use confined::Sandbox;
pub use failure::Failure;
pub use job::{BUILD_DIRECTORY, Finished, Job, ReadOnlyMount, Used};
pub use lazy::LazySandbox;
pub use missing::{KernelSetting, Missing};
pub use scratch::{ScratchDirectory, Scratches};
