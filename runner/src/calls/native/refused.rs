//! The error of a native tool that lacks something.

/// Why the server does not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NativeToolRefused {
    #[error("the native tool {name} has no {part}")]
    Incomplete { name: String, part: &'static str },
    #[error("the native tool {name}: {problem}")]
    Invalid { name: String, problem: String },
    #[error("two native tools have the name {name}")]
    Twice { name: String },
}
