//! Metrics of MCP clients.

use metrics::{counter, describe_counter, describe_gauge, gauge};

const LOOKS: &str = "lathe_mcp_looks_total";
const SESSIONS: &str = "lathe_mcp_sessions";

/// Describes the metrics to the recorder.
pub fn describe_metrics() {
    describe_counter!(
        LOOKS,
        "Lists of an agent and a user that were compared for MCP clients, for all of their clients at once"
    );
    describe_gauge!(SESSIONS, "Sessions of MCP clients");
    // The counter is there before its first event, which a query for increases would miss otherwise.
    counter!(LOOKS).increment(0);
}

pub fn count_look() {
    counter!(LOOKS).increment(1);
}

pub fn set_sessions(sessions: usize) {
    gauge!(SESSIONS).set(u32::try_from(sessions).map_or(f64::INFINITY, f64::from));
}
