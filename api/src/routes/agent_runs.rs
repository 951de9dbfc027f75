//! `/agents/…`: runs of agents.

pub(crate) mod cancel;
pub(crate) mod execute;
mod response_time;
pub(crate) mod resume;
pub(crate) mod status;
pub(crate) mod take_over;
pub(crate) mod trace;
mod wire;
