//! `/agents/…` and `/v1/{organization}/agent_run`: runs of agents.

pub(crate) mod cancel;
pub(crate) mod execute;
pub(crate) mod list;
mod response;
mod response_time;
pub(crate) mod resume;
pub(crate) mod status;
pub(crate) mod take_over;
pub(crate) mod trace;

pub(crate) use response::Response;
pub(crate) use response_time::{Answer, ResponseTime, describe_resuming};
