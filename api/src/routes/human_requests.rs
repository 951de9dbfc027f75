//! `/v1/{organization}/human_request/…`: requests of paused runs of agents to people.

pub(crate) mod answer;
pub(crate) mod list;
pub(crate) mod show;
