//! The commands of `lathe`, as people and scripts use them.

mod commands;
mod demo;
mod gc;
mod git_credential;
mod local;
mod machine;
mod organizations;
mod private;
mod reference;
mod registries;
mod usage;
