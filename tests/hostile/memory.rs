//! Tools that exceed limits of memory, tables, instances and handles.

use serde_json::Value;

use super::case::{Case, Expect, case, fails, gives, guest};
use crate::harness::Run;

pub fn cases() -> Vec<Case> {
    vec![
        case(14, guest!("grows"), gives("-1")),
        case(14, guest!("grows"), fails("out_of_memory", &["for want of memory"])).n(1),
        case(15, guest!("declares_four_gigabytes"), fails("instantiate_failed", &["memory", "4294967296"])).alike(),
        case(16, guest!("has_wide_addresses"), Expect::Refused(&["memory64"])),
        case(17, guest!("has_many_memories"), fails("instantiate_failed", &["memories"])).alike(),
        case(17, guest!("sums_memories"), fails("instantiate_failed", &["memory"])).alike(),
        case(18, guest!("touches_every_page"), Expect::That(touched)),
        case(19, guest!("grows_a_table"), gives("-1")),
        case(20, guest!("declares_a_wide_table"), fails("instantiate_failed", &["10000000"])).alike(),
        case(21, guest!("has_many_instances"), Expect::Refused(&["64 are the limit"])),
        case(22, guest!("opens_streams"), fails("limit_handles", &[])),
        case(23, guest!("leaks_handles"), fails("trap", &["unreachable"])),
        case(24, guest!("shares_memory"), Expect::Refused(&["threads"])),
    ]
}

/// All pages were available, and are in the ledger.
fn touched(run: &Run, record: &Value) {
    assert_eq!(run.output(), "1902");
    assert_eq!(record["ledger"]["cost"]["memory_peak_bytes"].as_u64(), Some(1902 << 16));
}

#[test]
fn no_tool_exceeds_its_memory() {
    super::check::check(&cases());
}
