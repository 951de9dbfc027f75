//! MCP clients: the endpoint of an agent, and its description as a protected resource.

pub(crate) mod endpoint;
pub(crate) mod metadata;
