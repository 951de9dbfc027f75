//! The conventions of Rust projects.

use registry::Language;

use super::convention::{ApiFunctions, Convention, EntryPoint};

pub const RUST: Convention = Convention {
    language: Language::Rust,
    file: "Cargo.toml",
    table: &["package", "metadata", "lathe"],
    name: &["package", "name"],
    dependencies: &["dependencies"],
    entry_point: EntryPoint {
        // Every component exports this function.
        defaults: &["run-tool"],
        is_valid: |_| false,
        rule: "is not set in Rust: `lathe::tool!(…)` or `lathe::apis!(…)` in src/lib.rs names the functions",
    },
    api_functions: ApiFunctions::OfEntryFile,
    image: None,
};
