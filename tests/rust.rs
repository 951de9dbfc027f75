//! Tools in Rust: from a project to a record, and what authors get wrong. They need a toolchain with the target that tools
//! are compiled for; `tests/rust/wasm-toolchain.sh` makes one where rustup cannot.

mod hostile;
mod leavings;
pub mod machine;
pub mod project;
mod refusals;
mod runs;
mod worlds;
