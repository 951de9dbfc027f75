//! The HTTP contract: its coverage, and the rules that it states only in words.
//!
//! | module | content |
//! |---|---|
//! | `border` | refused bodies, and ignored fields |
//! | `checks` | tests of the harness's checks |
//! | `client` | an independent client that calls every operation and parses strictly |
//! | `framing` | requests with ambiguous framing |
//! | `lists` | tags, orders, and pages during writes |
//! | `records` | origins, users, times, states and words of records |
//! | `table` | coverage of every operation, parameter and status |
//! | `versions` | constraints, refused publications, variables in use, deprecation |

mod border;
mod checks;
mod client;
mod closed;
mod framing;
mod held_index;
mod lists;
mod records;
mod refusals;
mod successes;
mod table;
mod versions;

use std::sync::atomic::{AtomicBool, Ordering};

use crate::harness::{Request, Team};

/// Sets a flag when it is dropped, also when an assertion fails, so that concurrent loops end.
struct Raised<'a>(&'a AtomicBool);

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A request with the contract's headers that have no effect here.
fn ask<'t>(team: &'t Team, method: &str, path: &str) -> Request<'t> {
    let request = team.request(method, path).header("x-mongo-cluster-name", "c1");
    request.header("sec-websocket-protocol", "a").header("sec-websocket-protocol", "b")
}
