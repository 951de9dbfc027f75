//! The place of a stopped call, which the readers of all languages return.

/// Innermost calls that are shown.
pub const SHOWN_MAX: usize = 100;

/// A position in a file of the project.
#[derive(Debug)]
pub struct Position {
    pub file: String,
    pub line: Option<u32>,
}
