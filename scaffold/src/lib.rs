//! Files for authors: the Python package of types, the project templates, and the `main` branch of a hosted repository.
//! All of them are embedded, so that the binary needs no other files.

#![forbid(unsafe_code)]

mod embedded;
mod error;
mod javascript;
mod main_branch;
mod pack;
mod project;
mod project_name;
mod rust;

pub use embedded::{File, python_package};
pub use error::{Error, Kind};
pub use main_branch::main_branch;
pub use pack::{ARCHIVE_NAME, pack};
pub use project::{TEMPLATES, Template};
pub use project_name::ProjectName;

/// The version of the Python package, which is the version of this workspace.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
