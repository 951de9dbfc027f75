//! Runs of agents: a scripted model calls real tools. A test is named after the row of the specification that it shows.

mod bounds;
mod changed_calls;
mod complete;
mod deaths;
mod execute;
mod families;
mod inbox_command;
mod memory;
mod models;
mod pause;
mod people;
mod progress;
mod robust;
mod rules;
mod run_command;
pub mod runs;
mod sdks;
mod tasks;
mod workflow;
