//! Coverage of the contract: every operation with each of its parameters in a successful request, and with each of its
//! documented statuses. One test sends all requests, so the table is complete whichever tests run.

use std::io::Write;

use super::held_index::HeldIndex;
use super::{closed, refusals, successes};
use crate::harness::contract::recorded;
use crate::harness::{Options, Server, Team};

#[test]
fn everything_that_the_contract_documents_is_seen() {
    let coverage = recorded(|| {
        let index = HeldIndex::new();
        let server = Server::private(&Options { python_index: Some(index.url.clone()), ..Options::default() });
        let team = Team::on(&server);
        refusals::of_the_request(&team);
        refusals::without_permission(&team);
        refusals::beyond_a_rate();
        refusals::while_a_tool_is_held(&team, &index);
        successes::all(&team);
        closed::on_a_closed_store();
    });
    // Bypasses the capture of the test's output, so that the table is always shown.
    std::io::stdout().write_all(coverage.table().as_bytes()).expect("an output");
    let missing = coverage.missing();
    assert!(missing.is_empty(), "never seen: {missing:#?}");
}
