//! Agents: their drafts, which edits change, and their revisions, which deployments make.

pub(crate) mod assign;
pub(crate) mod assignments;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod deploy;
pub(super) mod fields;
mod human_intervention;
pub(crate) mod list;
pub(crate) mod modify;
pub(crate) mod remove_state;
pub(crate) mod revision;
pub(crate) mod revisions;
pub(crate) mod set_state;
pub(crate) mod show;
pub(crate) mod states;
pub(crate) mod tools;
pub(crate) mod unassign;
