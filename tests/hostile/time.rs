//! Tools that do not end, and tools that trap.

use registry::RunBounds;
use serde_json::Value;

use super::case::{Case, Expect, case, fails, gives, guest};
use crate::harness::Run;

/// Limit of computing time, a hundred times what the siblings need in a debug build.
const SHORT_MS: u64 = 1_000;
/// Deadline of the whole run, also of siblings, which need some milliseconds.
const DEADLINE_MS: u64 = 5_000;

pub fn cases() -> Vec<Case> {
    let computes = |number, guest| case(number, guest, fails("timeout_cpu", &["computed longer than 1 s"]));
    let traps = |n, words| case(9, guest!("traps"), fails("trap", words)).n(n);
    vec![
        computes(1, guest!("loops")).cpu_ms(SHORT_MS),
        computes(2, guest!("loops_in_start")).cpu_ms(SHORT_MS).alike(),
        computes(3, guest!("loops_in_realloc")).cpu_ms(SHORT_MS),
        computes(3, guest!("loops_in_post_return")).cpu_ms(SHORT_MS),
        case(4, guest!("fills_memory"), Expect::That(timed_out)).cpu_ms(SHORT_MS),
        case(5, guest!("copies_memory"), Expect::That(timed_out)).cpu_ms(SHORT_MS),
        case(5, guest!("copies_tables"), Expect::That(timed_out)).cpu_ms(SHORT_MS),
        case(6, guest!("recurses"), fails("stack_overflow", &["exhausted"])),
        case(7, guest!("recurses_through_the_host"), fails("trap", &["cannot leave component instance"])),
        case(8, guest!("calls_the_host_from_the_depth"), gives("4000")).n(4000),
        traps(1, &["unreachable"]),
        traps(2, &["divide by zero"]),
        traps(3, &["indirect call type mismatch"]),
        traps(4, &["uninitialized element"]),
        traps(5, &["out of bounds memory access"]),
        case(10, guest!("polls_the_clock"), fails("timeout_cpu", &[])).bounds(RunBounds {
            cpu_ms: Some(SHORT_MS),
            host_calls: Some(u64::MAX),
            ..RunBounds::default()
        }),
        case(11, guest!("sleeps"), Expect::That(slept)).n(600_000).wall_ms(DEADLINE_MS),
        case(12, guest!("opens_timers"), fails("limit_handles", &[])),
        case(13, guest!("sleeps"), Expect::That(slept)).n(0).wall_ms(DEADLINE_MS),
    ]
}

/// One long instruction is one tick at most, so that the other deadline may come first.
fn timed_out(run: &Run, _: &Value) {
    assert_eq!(run.failure().kind, "timeout_cpu", "{run}");
}

/// Sleeping is not computing.
fn slept(run: &Run, record: &Value) {
    let failure = run.failure();
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("timeout_wall", "the tool ran longer than 5 s"));
    let cpu_ms = record["ledger"]["cost"]["cpu_ms"].as_u64().expect("a number");
    assert!(cpu_ms < DEADLINE_MS / 2, "{cpu_ms} ms for a sleeper: {record}");
}

#[test]
fn tools_that_do_not_end_are_stopped() {
    super::check::check(&cases());
}
