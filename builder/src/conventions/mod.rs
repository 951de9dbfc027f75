//! The conventions of the languages' projects: their project files, and the places of a tool's declarations in them.

mod convention;
mod javascript;
mod python;
mod rust;

use registry::Language;

pub use convention::{ApiFunctions, Convention, EntryPoint};
pub use javascript::{IMAGE as JAVASCRIPT_IMAGE, JAVASCRIPT};
pub use python::{IMAGE as PYTHON_IMAGE, PYTHON};
use rust::RUST;

/// The conventions of all languages.
pub static CONVENTIONS: [Convention; 3] = [PYTHON, JAVASCRIPT, RUST];

/// The names of the files of which each makes its directory a project.
pub const PROJECT_FILES: [&str; 3] = [PYTHON.file, JAVASCRIPT.file, RUST.file];

/// The conventions of one language.
pub fn find_convention(language: Language) -> Option<&'static Convention> {
    CONVENTIONS.iter().find(|convention| convention.language == language)
}
