//! The languages that tools are written in.
//!
//! A new language is a variant here, its templates in the scaffold, and its conventions and toolchain in the builder.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The language that a tool is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    Python,
    JavaScript,
    Rust,
}

impl Language {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::Rust => "rust",
        }
    }
}
