//! The HTTP contract: the table of all that it documents, and what it means where the documents leave that to words.
//!
//! | module | shows |
//! |---|---|
//! | `border` | bodies that are refused, and what is overlooked |
//! | `checks` | the checks of every answer find what they are for |
//! | `client` | a script that does every operation and reads strictly |
//! | `lists` | tags, orders, and pages while others write |
//! | `table` | each operation, parameter and status of the contract, seen on a server |
//! | `versions` | constraints, refusals of a publication, variables in use, the end of a version |

mod border;
mod checks;
mod client;
mod closed;
mod gate;
mod lists;
mod refusals;
mod successes;
mod table;
mod versions;

use std::sync::atomic::{AtomicBool, Ordering};

use crate::harness::{Request, Team};

/// Raises a flag when it goes, also when a check fails: whoever works beside until then must not go on for ever.
struct Raised<'a>(&'a AtomicBool);

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A request with the headers of the contract that mean nothing here.
fn ask<'t>(team: &'t Team, method: &str, path: &str) -> Request<'t> {
    let request = team.request(method, path).header("x-mongo-cluster-name", "c1");
    request.header("sec-websocket-protocol", "a").header("sec-websocket-protocol", "b")
}
