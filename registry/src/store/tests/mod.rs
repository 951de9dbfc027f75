//! Tests of the statements of the store on both databases.

mod announced;
#[path = "../../../tests/store/cluster.rs"]
#[expect(dead_code, reason = "other tests use the whole of it")]
pub(super) mod cluster;
mod expansion;
mod prepared;
mod statements;
