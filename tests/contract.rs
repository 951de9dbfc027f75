//! The HTTP contract: the table of all that it documents, and what it means where the documents leave that to words.
//!
//! | module | shows |
//! |---|---|
//! | `checks` | the checks of every answer find what they are for |
//! | `table` | each operation, parameter and status of the contract, seen on a server |

mod checks;
mod closed;
mod gate;
mod refusals;
mod successes;
mod table;

use crate::harness::{Request, Team};

/// A request with the headers of the contract that mean nothing here.
fn ask<'t>(team: &'t Team, method: &str, path: &str) -> Request<'t> {
    let request = team.request(method, path).header("x-mongo-cluster-name", "c1");
    request.header("sec-websocket-protocol", "a").header("sec-websocket-protocol", "b")
}
