//! The Library: one command for each family of items. `family` has what the commands share.

pub mod artifact;
mod content;
mod family;
pub mod memory;
pub mod preference;
pub mod prompt;
pub mod rule;
pub mod skill;
pub mod task;
