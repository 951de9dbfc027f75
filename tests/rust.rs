//! Tools in Rust: publications, runs and refusals. The tests need a toolchain with the target that tools are compiled
//! for; `tests/rust/wasm-toolchain.sh` makes one where rustup cannot.

mod components;
mod dependencies;
mod hostile;
pub mod machine;
pub mod project;
mod refusals;
mod runs;
mod worlds;
