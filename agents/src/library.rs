//! The tools of the Library: seven families of items that users and their agents keep.
//!
//! A family is a type with the fields of its items ([`Record`]). Its tools are the same functions for every such type, and what they
//! accept and return is derived from it.

mod answer;
mod artifact_encoding;
mod artifacts;
mod create;
mod delete;
mod enforced_rules;
mod fields;
mod get;
mod instructions;
mod item;
mod list;
mod memory;
mod preferences;
mod prompts;
mod record;
mod rule;
mod rule_warnings;
mod rules;
mod schemas;
mod search;
mod share;
mod skills;
mod tasks;
mod tools;
mod update;
mod variables;

use crate::platform_call::PlatformToolSpec;
pub use answer::{library_failure, library_refusal};
pub use artifact_encoding::ArtifactEncoding;
pub(crate) use enforced_rules::EnforcedRules;
pub use instructions::library_instructions;
pub(crate) use tasks::{RunEnd, end_run, find_creator, fire};
pub use variables::{FilledTooLarge, fill_variables};

/// The tools of all families.
pub(crate) const FAMILIES: &[&[PlatformToolSpec]] =
    &[memory::TOOLS, rules::TOOLS, skills::TOOLS, tasks::TOOLS, prompts::TOOLS, artifacts::TOOLS, preferences::TOOLS];
