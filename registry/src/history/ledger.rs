//! The ledger of a run: what the run was granted, what it used, what was refused, and what it cost. All figures are measured
//! by the server; none is reported by the tool.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kit::ids::RunId;

/// The ledger of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    pub granted: Granted,
    pub used: Used,
    pub refused: Denied,
    pub cost: Cost,
}

impl Ledger {
    /// Returns the resources of the run and of all runs that it called.
    pub fn total(&self) -> TreeUse {
        let http = &self.used.http;
        let own = TreeUse {
            runs: 1,
            cpu_ms: self.cost.cpu_ms,
            http_requests: http.len() as u64,
            http_bytes: http.iter().map(|request| request.sent_bytes.saturating_add(request.received_bytes)).sum(),
        };
        self.used.calls.iter().fold(own, |sum, call| sum.plus(call.total))
    }

    /// Records that the tool was called, and so received all variables and secrets that it was granted.
    pub fn hand_over(&mut self) {
        let Self { granted, used, .. } = self;
        let sent = used.http.iter().flat_map(|request| &request.secrets);
        let secrets: BTreeSet<_> = granted.secrets.iter().chain(sent).cloned().collect();
        used.secrets = secrets.into_iter().collect();
        used.envvars.clone_from(&granted.envvars);
    }
}

/// The grants of a run. Values of variables are not part of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Granted {
    /// Variables in `config.envvars`, which the tool receives when it is called.
    pub envvars: Vec<String>,
    /// Variables in `config.secrets`, which the tool receives when it is called.
    pub secrets: Vec<String>,
    /// Secrets that the server may insert into requests. The tool does not receive them.
    pub host_secrets: Vec<String>,
    /// Wall-clock limit of the run.
    pub wall_ms: u64,
    /// CPU time limit of the run.
    pub cpu_ms: u64,
    /// Memory limit of the run.
    pub memory_bytes: u64,
}

/// The resources that a run used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Used {
    /// Variables that the tool received. All variables are passed when the tool is called, and the server cannot see which of
    /// them it reads. The list is empty if the run ended before the call.
    pub envvars: Vec<String>,
    /// Secrets that the tool received, and secrets that the server inserted into its requests.
    pub secrets: Vec<String>,
    /// Reads of the wall clock or the monotonic clock.
    pub clock_reads: u64,
    /// Random bytes. An interpreter reads some at its start.
    pub random_bytes: u64,
    pub status_events: u64,
    /// Bytes printed, including bytes above the limit.
    pub log_bytes: u64,
    pub output_bytes: u64,
    /// Outbound requests in the order in which they began.
    pub http: Vec<HttpUse>,
    /// Calls of other tools in the order in which they began.
    pub calls: Vec<CallUse>,
}

/// A call of another tool, also a refused one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ToolCallUse")]
pub struct CallUse {
    /// The name. Empty for a tool that the version does not declare.
    pub tool: String,
    /// Null for a refused call.
    pub version: Option<String>,
    /// The run of the tool. Null for a call that was refused or that has no result yet.
    pub invocation_id: Option<RunId>,
    /// Reason for the missing output: the type of the exception, or the code of the refusal; `cancelled` when the calling run
    /// dropped the call or ended.
    pub error: Option<String>,
    /// Whether the server refused the call.
    pub is_refused: bool,
    pub duration_ms: u64,
    /// Resources of the run and of all runs that it called in turn.
    pub total: TreeUse,
}

/// Resources of a run and of all runs that it called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RunTreeUse")]
pub struct TreeUse {
    pub runs: u64,
    pub cpu_ms: u64,
    pub http_requests: u64,
    pub http_bytes: u64,
}

/// One outbound request, sent or refused. Paths and contents are not recorded, because they may contain anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "HttpRequestUse")]
pub struct HttpUse {
    pub method: String,
    /// The host, with its port unless that is the scheme's default. Empty when the URL names no host.
    pub host: String,
    /// Status code of the response. Null without a response.
    pub status: Option<u16>,
    /// Reason for the missing response: `denied`, `timeout`, …; `cancelled` when the tool dropped the request or ended.
    pub error: Option<String>,
    /// Whether the server refused to send the request.
    pub is_refused: bool,
    /// Source of the response: `network`, or in a simulation also `mock` or `recorded`.
    pub answered_by: Option<String>,
    /// Bytes on the wire, including headers. Zero for a mock or recorded response.
    pub sent_bytes: u64,
    pub received_bytes: u64,
    pub duration_ms: u64,
    /// Secrets that the server inserted into the request headers.
    pub secrets: Vec<String>,
}

impl TreeUse {
    const fn plus(self, other: Self) -> Self {
        Self {
            runs: self.runs.saturating_add(other.runs),
            cpu_ms: self.cpu_ms.saturating_add(other.cpu_ms),
            http_requests: self.http_requests.saturating_add(other.http_requests),
            http_bytes: self.http_bytes.saturating_add(other.http_bytes),
        }
    }
}

impl HttpUse {
    /// Returns the reason why the server refused to send the request.
    pub fn refusal(&self) -> Option<&str> {
        self.error.as_deref().filter(|_| self.is_refused)
    }
}

/// The requests and status events that the server refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Denied {
    pub http_requests: u64,
    /// Status events above the limits on number or size.
    pub status_events: u64,
    /// Calls of tools above the limit on number.
    pub calls: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RunCost")]
pub struct Cost {
    /// CPU time of the tool, and of the server on its behalf, rounded up.
    pub cpu_ms: u64,
    /// Part of the duration that the run spent in the tool's code, including the start of the instance and the transfer of
    /// input and output.
    pub guest_us: u64,
    /// Part of the duration that the run spent in server functions, without waiting.
    pub host_us: u64,
    /// The rest of the duration: waiting for timers, for responses and for other runs.
    pub waiting_us: u64,
    /// Peak memory.
    pub memory_peak_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_has_all_runs_of_the_tree() {
        let inner = TreeUse { runs: 2, cpu_ms: 5, http_requests: 3, http_bytes: 100 };
        let mut ledger = Ledger::default();
        ledger.cost.cpu_ms = 7;
        ledger.used.http = vec![HttpUse { sent_bytes: 10, received_bytes: 20, ..HttpUse::default() }];
        ledger.used.calls = vec![CallUse { total: inner, ..CallUse::default() }, CallUse::default()];
        assert_eq!(ledger.total(), TreeUse { runs: 3, cpu_ms: 12, http_requests: 4, http_bytes: 130 });
    }

    #[test]
    fn a_called_tool_received_what_it_was_granted() {
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
