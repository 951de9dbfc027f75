//! The makers of components.

use registry::HeapBytes;

/// Maker of a component, which determines what compiling it may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Maker {
    /// The platform, for a language's image.
    Platform,
    /// The author of a tool.
    Author,
}

impl HeapBytes for Maker {
    fn heap_bytes(&self) -> usize {
        0
    }
}
