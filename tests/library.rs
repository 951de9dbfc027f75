//! The tools of the Library, as an agent calls them by MCP. A test is named after the row of the specification that it shows.

mod agent;
mod artifacts;
mod envelope;
mod families;
mod memory;
mod preferences;
mod prompts;
mod rules;
mod sharing;
mod skills;
