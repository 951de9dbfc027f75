//! The program `git`: the machine's installation, its commands and settings, and the files that it leaves when it is stopped.

mod commands;
mod leftovers;
mod program;
mod settings;

pub(crate) use commands::{GitCommands, Priority};
pub(crate) use leftovers::{
    UNFINISHED_PREFIX, remove_locks, remove_quarantines, remove_stopped_packs, remove_unfinished,
};
pub use program::GitProgram;
pub(crate) use settings::{HOOKS_DIRECTORY, write_settings};
