//! The account beside a record: what a run was granted, used, was refused, and cost. Counts of the host, which saw each
//! of these happen; nothing of it is what the tool says.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The account of one run. What an earlier release did not count is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Ledger {
    pub granted: Granted,
    pub used: Used,
    pub refused: Denied,
    pub cost: Cost,
}

impl Ledger {
    /// Enters that the tool was called, with all that it was granted for itself.
    pub fn hand_over(&mut self) {
        let Self { granted, used, .. } = self;
        let sent = used.http.iter().flat_map(|one| &one.secrets);
        let secrets: BTreeSet<_> = granted.secrets.iter().chain(sent).cloned().collect();
        used.secrets = secrets.into_iter().collect();
        used.envvars.clone_from(&granted.envvars);
    }
}

/// What a run got: names alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Granted {
    /// Variables in `config.envvars`, which the tool is handed when it is called.
    pub envvars: Vec<String>,
    /// Variables in `config.secrets`, likewise.
    pub secrets: Vec<String>,
    /// Secrets that the host may put into requests, and that the tool does not have.
    pub host_secrets: Vec<String>,
    /// Time until the host stops it.
    pub wall_ms: u64,
    /// Computing time until the host stops it.
    pub cpu_ms: u64,
    /// The memory that it may have at once.
    pub memory_bytes: u64,
}

/// What a run took of what comes from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Used {
    /// Variables that the tool was handed, which counts as having read them: they come all at once, when it is called,
    /// and the host cannot see which of them it looks at. None when the run ended before.
    pub envvars: Vec<String>,
    /// Secrets that the tool was handed, in the same way, and those that the host put into its requests.
    pub secrets: Vec<String>,
    /// Looks at the time, of the day or since the start.
    pub clock_reads: u64,
    /// Bytes of randomness; an interpreter takes some at its start.
    pub random_bytes: u64,
    pub status_events: u64,
    /// What it printed, also what was cut off.
    pub log_bytes: u64,
    pub output_bytes: u64,
    /// Outbound requests in the order in which they were begun.
    pub http: Vec<HttpUse>,
}

/// One outbound request, made or refused. Paths and contents are not part of it: they may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "HttpRequestUse")]
pub struct HttpUse {
    pub method: String,
    /// With its port, unless that is the scheme's own. Empty when the URL names none.
    pub host: String,
    /// The answer's, when there was one.
    pub status: Option<u16>,
    /// Why there was none: `denied`, `timeout`, …; `cancelled` when the tool or its end gave the request up.
    pub error: Option<String>,
    /// Whether the host did not send it.
    pub is_refused: bool,
    /// Who gave the answer: `network`, or in a simulation also `mock` or `recorded`.
    pub answered_by: Option<String>,
    /// On the wire, heads included; nothing for an answer that is a mock or recorded.
    pub sent_bytes: u64,
    pub received_bytes: u64,
    pub duration_ms: u64,
    /// Secrets that the host put into its headers.
    pub secrets: Vec<String>,
}

impl HttpUse {
    /// Why the host did not send it.
    pub fn refusal(&self) -> Option<&str> {
        self.error.as_deref().filter(|_| self.is_refused)
    }
}

/// What the host did not do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Denied {
    pub http_requests: u64,
    /// Too many, or too large.
    pub status_events: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "RunCost")]
pub struct Cost {
    /// Computing time in milliseconds begun, waiting left out: of the tool, and of the host for it.
    pub cpu_ms: u64,
    /// Of the run's duration, what passed in the tool's code, with what the engine did to start it and to hand over what
    /// it gave and got.
    pub guest_us: u64,
    /// What passed in functions of the host that it called, as far as they did not wait.
    pub host_us: u64,
    /// The rest: for time to pass, for answers, and for its turn among other runs.
    pub waiting_us: u64,
    /// The most memory that it had.
    pub memory_peak_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_was_called_has_what_it_was_granted() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let mut ledger = Ledger {
            granted: Granted {
                envvars: names(&["REGION"]),
                secrets: names(&["TOKEN"]),
                host_secrets: names(&["KEY", "UNUSED"]),
                ..Granted::default()
            },
            ..Ledger::default()
        };
        let request = HttpUse { secrets: names(&["KEY"]), ..HttpUse::default() };
        ledger.used.http = vec![request.clone(), request];
        ledger.hand_over();
        assert_eq!((ledger.used.envvars, ledger.used.secrets), (names(&["REGION"]), names(&["KEY", "TOKEN"])));
    }
}
