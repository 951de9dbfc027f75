//! The endpoint of an agent: requests of clients, and the methods that answer them.

mod gateway;
mod introduction;
mod offers;
mod plain_call;
mod requests;

pub use requests::{McpEndpoint, McpRequest};
