//! Statements about the Library: items, memories and their vectors, tasks, and usage.

mod changes;
mod content;
mod corpus;
mod downloads;
pub(in crate::store) mod due;
mod expiry;
mod index;
mod item;
mod list;
mod revisions;
mod rules;
pub(in crate::store) mod run_ends;
mod search;
mod shelf;
mod usage;
mod uses;
pub(in crate::store) mod vectors;

pub use due::{Advance, AdvancedItem, DueRun};
pub use item::Library;
pub use run_ends::{EndedRun, Report};
