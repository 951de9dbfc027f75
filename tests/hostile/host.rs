//! Tools that misuse the host's functions: events, streams, files, clocks, randomness, exits.

use registry::RunBounds;
use serde_json::Value;

use super::case::{Case, Expect, case, fails, gives, guest};
use crate::harness::Run;

/// Enough for the accepted events, a thousand refused ones, and some that are delayed.
const EVENTS_SENT: u64 = 2_000;

pub fn cases() -> Vec<Case> {
    vec![
        // Beyond a thousand refused events, the host delays each further one.
        case(45, guest!("sends_many_events"), Expect::That(kept_a_hundred))
            .bounds(RunBounds { host_calls: Some(EVENTS_SENT), ..RunBounds::default() }),
        case(46, guest!("sends_a_large_event"), fails("limit_hostcall_bytes", &["too much data"])),
        // A tool that calls the host after its answer loses the answer.
        case(47, guest!("sends_after_its_answer"), fails("trap", &["cannot leave component instance"])),
        case(49, guest!("prints_without_end"), Expect::That(cut_its_prints)),
        case(50, guest!("reads_stdin"), gives("1")),
        case(51, guest!("polls_the_clock"), fails("limit_hostcalls", &["called host functions more than"])),
        case(52, guest!("counts_its_environment"), gives("0")),
        case(54, guest!("counts_its_directories"), gives("0")),
        case(55, guest!("imports_sockets"), Expect::Refused(&["does not grant", "wasi:sockets/tcp@0.2.0"])),
        case(55, guest!("imports_the_unknown"), Expect::Refused(&["does not grant", "evil:host/shell@1.0.0"])),
        case(57, guest!("takes_a_gigabyte_of_randomness"), fails("trap", &["exceeds limit"])),
        case(58, guest!("watches_the_clocks"), gives("0")),
        case(59, guest!("exits"), fails("no_result", &["without a result"])).n(1),
        case(60, guest!("exits"), fails("exit", &["failure code"])).n(2),
        case(61, guest!("keeps_count"), gives("11")).alike(),
    ]
}

fn kept_a_hundred(run: &Run, record: &Value) {
    assert_eq!(run.failure().kind, "limit_hostcalls", "{run}");
    assert_eq!(record["ledger"]["used"]["status_events"], 100);
    assert!(record["ledger"]["refused"]["status_events"].as_u64() > Some(1_000), "{record}");
}

fn cut_its_prints(run: &Run, record: &Value) {
    assert_eq!(run.output(), "fine");
    let logs = record["logs"].as_str().expect("a text");
    assert!(logs.len() < 66_000 && logs.ends_with("[truncated]"), "{} bytes", logs.len());
    assert_eq!(record["ledger"]["used"]["log_bytes"].as_u64(), Some(1_600 << 16));
}

#[test]
fn the_host_grants_no_more_than_it_should() {
    super::check::check(&cases());
}
