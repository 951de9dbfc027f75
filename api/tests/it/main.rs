//! The API in process, over a real store in a temporary directory.
//!
//! What needs a built tool is tested end to end, with the real `git`; here are the door, the shapes and the refusals.

mod fixtures;
mod git;
mod harness;
mod invocations;
mod isolation;
mod parts;
mod rate;
mod server;
mod sign_in;
mod slow;
mod streams;
mod table;
mod tools;
mod validation;
mod variables;
mod versions;
