//! The tools of the Library, as an agent calls them by MCP and a user over REST. A test is named after the row of the specification that it shows.

mod agent;
mod artifacts;
mod envelope;
mod failures;
mod families;
mod memory;
mod memory_search;
mod one_path;
mod preferences;
mod prompts;
mod quota;
mod rest;
mod rules;
mod sharing;
mod skills;
mod tasks;
