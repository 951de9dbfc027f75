//! Bounds on the data that is stored beside records.

use std::time::Duration;

#[derive(Clone, Copy)]
pub(super) struct Retention {
    /// Time for which tapes and recorded answers are stored.
    pub time: Duration,
    pub answers_per_tool_max: u32,
}
