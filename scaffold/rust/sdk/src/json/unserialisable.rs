//! Values that JSON does not have.

use std::fmt::{self, Display};

use serde::ser;

/// A value that cannot be written as JSON, with its place, such as `result.rows[2].rate`.
#[derive(Debug, PartialEq, Eq)]
pub struct Unserialisable {
    path: Vec<String>,
    reason: String,
}

impl Unserialisable {
    pub fn new(reason: impl Display) -> Self {
        Self { path: Vec::new(), reason: reason.to_string() }
    }

    /// The same in a larger value, of which `part` is the place of this one.
    pub fn within(mut self, part: impl FnOnce() -> String) -> Self {
        self.path.push(part());
        self
    }

    /// The message, with the name of the whole value.
    pub fn message(&self, root: &str) -> String {
        let path: String = self.path.iter().rev().map(String::as_str).collect();
        format!("{root}{path} cannot be written as JSON: {}", self.reason)
    }
}

impl Display for Unserialisable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message("value"))
    }
}

impl std::error::Error for Unserialisable {}

impl ser::Error for Unserialisable {
    fn custom<T: Display>(reason: T) -> Self {
        Self::new(reason)
    }
}

/// Returns a number unless it is NaN or infinite.
pub fn finite(value: f64) -> Result<f64, Unserialisable> {
    if value.is_finite() { Ok(value) } else { Err(Unserialisable::new(format!("{value} is not a JSON number"))) }
}
