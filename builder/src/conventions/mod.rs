//! The table of languages.

use registry::Language;

use super::convention::Convention;
use super::javascript::convention::JAVASCRIPT;
use super::python::convention::PYTHON;
use super::rust::convention::RUST;

/// The conventions of all languages.
pub static CONVENTIONS: [Convention; 3] = [PYTHON, JAVASCRIPT, RUST];

/// The conventions of one language.
pub fn convention(language: Language) -> Option<&'static Convention> {
    CONVENTIONS.iter().find(|convention| convention.language == language)
}
