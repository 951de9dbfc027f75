//! The table of the contract: every operation with each of its parameters in a request that succeeds, and with each
//! of its documented statuses. One test asks for all of it, so that the table is whole whichever tests run.

use std::collections::BTreeSet;
use std::io::Write;

use super::gate::Gate;
use super::{closed, refusals, successes};
use crate::harness::contract::{operations, recorded};
use crate::harness::{Options, Server, Team};

/// Statuses that nothing can cause yet: every user may do everything, and nobody is ever told to slow down.
const OPEN: [u16; 2] = [403, 429];

#[test]
fn everything_that_the_contract_documents_is_seen() {
    let coverage = recorded(|| {
        let gate = Gate::new();
        let server = Server::private(&Options { python_index: Some(gate.url.clone()), ..Options::default() });
        let team = Team::on(&server);
        refusals::of_the_request(&team);
        refusals::while_a_tool_is_held(&team, &gate);
        successes::all(&team);
        closed::on_a_closed_store();
    });
    // Past the capture of the test's output: the table is always shown.
    std::io::stdout().write_all(coverage.table().as_bytes()).expect("an output");
    assert_eq!(coverage.missing(), open());
}

fn open() -> BTreeSet<String> {
    let cells = operations().iter().flat_map(|operation| {
        let open = OPEN.iter().filter(|status| operation.statuses.contains(status));
        open.map(|status| format!("{}: {status}", operation.name))
    });
    cells.collect()
}
